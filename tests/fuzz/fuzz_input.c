/* Any bytes read the same whether their head was looked at first or not, or it is explained. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "source/input.h"

enum { MOST = 2 << 20 }; /* a small input may unpack to gigabytes: enough is enough */

static ssize_t drain(struct str bytes, bool look, uint64_t *hash)
{
	struct error err = { 0 };
	struct input *in = NULL;
	char out[4096];
	size_t total = 0;
	bool whole = false;
	struct str head;
	ssize_t n;

	if (input_of_bytes(&in, "fuzz", bytes, &err) < 0)
		abort();
	if (look) {
		head = input_head(in, &whole);
		if (head.n > INPUT_HEAD_BYTES || (!whole && head.n != INPUT_HEAD_BYTES))
			abort();
	}
	/* to the very byte, so that both readings stop at the same place */
	while (total < MOST && (n = input_read(in, out, sizeof(out), &err)) > 0)
		for (ssize_t i = 0; i < n && total < MOST; i++, total++)
			*hash = *hash * 31 + (unsigned char)out[i];
	if (total == MOST)
		n = 0;
	else if (n < 0 && (n != -EBADMSG || !err.msg[0]))
		abort();
	if (input_position(in) > bytes.n)
		abort();
	input_close(in);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = { (const char *)data, size };
	uint64_t once = 0, again = 0;
	ssize_t r = drain(bytes, false, &once), l = drain(bytes, true, &again);

	/* how much comes out in front of damage, and for zstd even whether a length that is a lie
	 * counts as damage, depends on the room that the decoder is given */
	if (!r && !l && once != again)
		abort();
	return 0;
}
