/* A line of any bytes is masked to a text that is short, one line, and without digits. */
#include <stdint.h>
#include <stdlib.h>

#include "ask/complaints.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size }, point;
	struct buf out = { 0 };

	if (!str_take_until(&text, '\n', &point))
		point = (struct str){ "", 0 };
	complaints_mask(text, point, &out);
	for (size_t i = 0; i < out.n; i++)
		if ((out.p[i] >= '0' && out.p[i] <= '9') || out.p[i] == '\n')
			abort();
	if (out.n > 120)
		abort();
	buf_done(&out);
	return 0;
}
