/* Constants and a line: the cover lies within the line, in order, without overlaps, and every
 * stretch is made of constants. Input: constants, one on each line, then the line asked about. */
#include <stdlib.h>

#include "ident/constants.h"
#include "model/loss.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = { (const char *)data, size }, line, last = STR("");
	struct constants *c = constants_new(1 << 20);
	struct losses losses = { 0 };
	struct cover v = { 0 };
	uint32_t at = 0, bytes = 0;

	while (str_take_line(&rest, &line)) {
		constants_add(c, last);
		last = line;
	}
	constants_settle(c, &losses);
	constants_cover(c, last, &v);
	vec_each (&v.constant, s) {
		must(s->from < s->to && s->to <= last.n && (s == v.constant.v || s->from > at));
		at = s->to;
		bytes += s->to - s->from;
	}
	must(bytes == v.nr_bytes);
	must(!v.is_pattern || (v.pattern.from < v.pattern.to && v.pattern.to <= last.n));
	cover_done(&v);
	constants_free(c);
	return 0;
}
