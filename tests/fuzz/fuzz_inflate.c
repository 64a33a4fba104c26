/* Any bytes decompress to something and an end, or to something and a sentence; what is
 * whole is the same twice. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/inflate.h"

enum { MOST = 4 << 20 }; /* a small input may unpack to gigabytes: enough is enough */

static ssize_t drain(struct str in, size_t step, uint64_t *hash)
{
	struct inflate *z = NULL;
	struct error err = { 0 };
	char out[8192];
	size_t total = 0;
	ssize_t n;

	if (inflate_of_bytes(&z, in, &err) < 0)
		abort();
	while ((n = inflate_read(z, out, step, &err)) > 0 && (total += (size_t)n) < MOST)
		for (ssize_t i = 0; i < n; i++)
			*hash = *hash * 31 + (unsigned char)out[i];
	if (inflate_position(z) > in.n || (n < 0 && (n != -EBADMSG || !err.msg[0])))
		abort();
	if (n <= 0 && inflate_read(z, out, step, &err) != n)
		abort();
	inflate_free(z);
	return n > 0 ? 1 : n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in = { (const char *)data, size };
	uint64_t once = 0, again = 0;
	ssize_t r = drain(in, 4096, &once);

	/* how much comes out in front of damage may depend on the step; what is whole may not */
	if (!r && (drain(in, 8192, &again) != r || once != again))
		abort();
	return 0;
}
