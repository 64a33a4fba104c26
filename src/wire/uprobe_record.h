/* A function was entered or left, as the kernel's side of capture/uprobes tells it. */
#ifndef CULPRIT_WIRE_UPROBE_RECORD_H
#define CULPRIT_WIRE_UPROBE_RECORD_H

#include <stdint.h>

#define UPROBE_RING_BYTES (4 << 20)
#define UPROBE_TAKES_MAX 512 /* a power of two */
#define UPROBE_RETURN 6      /* of static_take.argument: what the function returns */

enum uprobe_kind { UPROBE_ENTERED, UPROBE_LEFT };

struct uprobe_record {
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint64_t value;
	uint32_t tgid, tid;
	uint32_t function;
	uint8_t kind, has_value, is_taken, reserved;
};

#endif
