/* Any text names something or nothing: what is remembered of lines is what reading them anew would
 * find, and lines whose digits differ name the same at the same places. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "ident/gist.h"
#include "ident/line.h"
#include "ident/namer.h"
#include "model/loss.h"

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void same(const struct mention *a, const struct mention *b)
{
	must(a->template == b->template && a->nr == b->nr && str_eq(a->title, b->title));
	for (size_t i = 0; i < a->nr; i++) {
		must(a->v[i].value.n && a->v[i].type.n);
		must(str_eq(a->v[i].type, b->v[i].type) && str_eq(a->v[i].value, b->v[i].value));
		must(a->v[i].place == b->v[i].place);
	}
}

/* Other digits, but for zeroes, which mark hexadecimal numbers: as many of them. */
static void turn_digits(char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (text[i] > '0' && text[i] <= '9')
			text[i] = (char)('1' + (text[i] - '0') % 9);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *other = malloc(size + 1);
	struct str text = { (const char *)data, size }, turned = { other, size };
	const struct namer_where at = { .thread = str_head(text, size / 3) };
	struct namer *known = namer_new(NULL), *fresh = namer_new(NULL);
	struct arena arena = { 0 };
	struct losses losses = { 0 };

	if (size)
		memcpy(other, data, size);
	turn_digits(other, size);
	for (int i = 0; i < 2; i++) {
		namer_line(known, turned, &at, &arena, &losses);
		namer_begin(known);
	}
	same(namer_line(known, text, &at, &arena, &losses),
	     namer_line(fresh, text, &at, &arena, &losses));
	namer_free(known);
	namer_free(fresh);
	arena_done(&arena);
	free(other);
	return 0;
}
