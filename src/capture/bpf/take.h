/* A value that names an interval: followed as a pointer as often as it was asked for. */
#ifndef CULPRIT_CAPTURE_BPF_TAKE_H
#define CULPRIT_CAPTURE_BPF_TAKE_H

#include "wire/static_record.h"

static __always_inline bool take_load(const struct static_take *t, uint64_t *value)
{
	for (int i = 0; i < STATIC_LOADS_MAX; i++) {
		uint64_t at = *value + (int64_t)t->offsets[i];

		if (i >= t->nr_loads)
			break;
		*value = 0;
		if (bpf_probe_read_user(value, sizeof(*value), (const void *)at))
			return false;
	}
	if (t->bytes && t->bytes < 8)
		*value &= (1ull << (8 * t->bytes)) - 1;
	return true;
}

#endif
