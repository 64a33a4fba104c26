#include "query/system_call.h"

#include <stddef.h>

#include "query/near.h"

static const struct {
	const char *name;
	int number;
} calls[] = {
/* made by tools/system-calls */
#include "query/system_calls.inc"
};

int system_call_number(struct str name, struct str *near)
{
	struct near found;

	near_begin(&found, name);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		struct str one = str_of(calls[i].name);

		if (str_eq(one, name))
			return calls[i].number;
		near_offer(&found, one);
	}
	if (near)
		*near = found.best;
	return -1;
}
