/* Program files: whatever the bytes are, each string given is a line of text within the bounds. The
 * first byte says how the file is called. */
#include <stdlib.h>

#include "base/utf8.h"
#include "model/loss.h"
#include "program/strings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(void *ctx, struct str s)
{
	(void)ctx;
	if (s.n < STRING_MIN || s.n > STRING_MAX)
		abort();
	while (s.n) {
		size_t n = utf8_length(s);

		if (!n || ((uint8_t)s.p[0] < ' ' && s.p[0] != '\t' && !string_is_hole(s.p[0])))
			abort();
		s = str_skip(s, n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strings_sink to = { check, NULL };
	struct losses losses = { 0 };

	if (!size)
		return 0;
	strings_of_bytes((struct str){ (const char *)data + 1, size - 1 },
			 data[0] == 'p' ? STR("x.py") : STR("x"), &to, &losses);
	return 0;
}
