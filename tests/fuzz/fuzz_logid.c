/* Any text names a request inside itself or none, and has a short title that is valid UTF-8. */
#include <stdint.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "source/logid.h"
#include "source/lines.h"
#include "source/title.h"

static void check_inside(struct str text, struct str part)
{
	if (part.n && (part.p < text.p || part.p + part.n > text.p + text.n))
		abort();
}

static void check_text(struct str text)
{
	struct arena arena = { 0 };
	struct logid id = { 0 };
	struct str title = title_mask(&arena, text);

	if (logid_find(text, &id)) {
		if (id.kind == KEY_NONE || !id.key.n || (id.span.n && id.kind != KEY_TRACE))
			abort();
		check_inside(text, id.key);
		check_inside(text, id.span);
	}
	if (title.n > TITLE_BYTES_MAX)
		abort();
	while (title.n) {
		size_t n = utf8_length(title);

		if (!n)
			abort();
		title = str_skip(title, n);
	}
	arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct lines l = lines_of(text);
	struct line line;
	uint64_t nr = 0;

	check_text(text);
	for (; lines_next(&l, &line); nr++)
		check_text(line.text);
	if (nr != lines_count(text) + (size && data[size - 1] != '\n'))
		abort();
	return 0;
}
