/* Chrome's trace events: slices that nest, or a count of what was wrong. */
#include "fuzz_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_source(&source_chrome, data, size);
}
