/* OTLP in protobuf: spans with ids and times, or a count of what was wrong. */
#include "fuzz_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_source(&source_otlp_protobuf, data, size);
}
