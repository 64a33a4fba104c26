/* Programs in memory: whatever the bytes are, functions are in order, within their module and
 * found by their names, and callees are functions. */
#include <stdlib.h>

#include "base/error.h"
#include "program/functions.h"
#include "program/usdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LOOKED_AT = 64 };

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_function(struct functions *f, uint32_t i)
{
	const struct function_of fn = f->v.v[i];
	struct str near[3];
	struct callees c;
	uint32_t v[64];
	size_t nr = functions_find(f, fn.folded, v, 64);

	must(fn.name.n && fn.folded.n && fn.module < f->modules.nr);
	must(nr > 0 || memchr(fn.folded.p, '!', fn.folded.n));
	if (functions_callees(f, i, &c, NULL) == 0)
		for (size_t k = 0; k < c.nr; k++)
			must(c.v[k] < f->v.nr && (!k || c.v[k - 1] < c.v[k]));
	functions_at(f, fn.module, fn.address + fn.size);
	functions_near(f, str_head(fn.name, fn.name.n / 2), near, 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct functions f = { 0 };
	struct usdts u = { 0 };
	struct error err = { 0 };

	if (functions_of_bytes(&f, (struct str){ (const char *)data, size }, "/x/y", &err) < 0) {
		must(err.msg[0]);
		functions_done(&f);
		return 0;
	}
	for (size_t i = 1; i < f.v.nr; i++)
		must(f.v.v[i - 1].address < f.v.v[i].address);
	for (uint32_t i = 0; i < f.v.nr && i < LOOKED_AT; i++)
		check_function(&f, i);
	usdts_read(&u, &f);
	usdts_done(&u);
	functions_done(&f);
	return 0;
}
