/* Results of queries as bytes: refused with a word, or equal to what they pack to again. */
#include <stdlib.h>

#include "base/error.h"
#include "query/partial.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = { (const char *)data, size };
	struct buf once = { 0 }, twice = { 0 };
	struct error err = { 0 };
	struct partial p, q;

	if (partial_unpack(&p, bytes, &err) < 0) {
		must(err.msg[0] && partial_is_empty(&p));
	} else {
		partial_pack(&once, &p);
		must(once.n <= 4 * size + 64);
		if (once.n <= PARTIAL_BYTES) {
			must(partial_unpack(&q, buf_str(&once), &err) == 0);
			partial_pack(&twice, &q);
			must(str_eq(buf_str(&once), buf_str(&twice)));
			must(partial_merge(&p, &q, &err) == 0);
			partial_done(&q);
		}
	}
	partial_done(&p);
	buf_done(&once);
	buf_done(&twice);
	return 0;
}
