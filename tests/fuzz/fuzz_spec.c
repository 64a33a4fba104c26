/* What users say an interval is: understood within the bounds, or explained. The first byte is the
 * option. */
#include <stdlib.h>

#include "base/error.h"
#include "capture/probe/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct interval_specs s = { 0 };
	struct error err = { 0 };

	if (!size)
		return 0;
	if (specs_add(&s, data[0] % 4, (struct str){ (const char *)data + 1, size - 1 }, &err) < 0)
		must(err.msg[0] && !s.v.nr);
	vec_each (&s.v, one) {
		must(one->name.n && one->at < one->text.n && one->take.nr_loads <= 4);
		must(one->take.from == TAKE_NOTHING || one->take.bytes == 1 ||
		     one->take.bytes == 2 || one->take.bytes == 4 || one->take.bytes == 8);
		must(spec_show(one, &err) <= 0);
	}
	specs_done(&s);
	return 0;
}
