/* A scan ends where a byte-wise one does, wherever it was interrupted; a mended text is balanced.
 */
#include <stdint.h>
#include <stdlib.h>

#include "source/json_scan.h"

static size_t end_by_hand(struct str s)
{
	bool in_string = false, escaped = false;
	size_t depth = 0;

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		/* outside of strings a backslash is wrong, and hides no bracket */
		if (c == '"' && !escaped)
			in_string = !in_string;
		else if (!in_string && (c == '{' || c == '['))
			depth++;
		else if (!in_string && (c == '}' || c == ']') && !--depth)
			return i + 1;
		escaped = c == '\\' && !escaped;
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct str arrays[] = { { "spans", 5 } };
	const struct json_units units = { arrays, 1, size & 1 };
	struct str s = { (const char *)data, size };
	struct json_scan scan = { 0 };
	struct buf out = { 0 };
	size_t at = 0, want;

	json_scan_is_lines(s, true);
	json_scan_has_key(s, STR("spans"));
	if (!size || (s.p[0] != '{' && s.p[0] != '['))
		return 0;
	if (json_scan_mend(s, &units, &out) && json_scan_any(buf_str(&out), 0) != out.n)
		abort();
	buf_done(&out);
	want = end_by_hand(s);
	if (json_scan_any(s, 0) != want)
		abort();
	if (!json_scan_value(&scan, str_head(s, data[size - 1]), &at))
		json_scan_value(&scan, s, &at);
	if (at != (want ? want : size))
		abort();
	return 0;
}
