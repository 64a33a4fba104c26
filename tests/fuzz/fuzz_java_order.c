/* An order is taken whole or refused; a field of ours in bytes of a stranger lies within them. */
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/field.h"
#include "agent/jvm/order.h"
#include "base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = { 0 };
	struct order o;
	unsigned char *copy = malloc(size + 1);
	const unsigned char *found;
	size_t length = 0;

	memcpy(copy, data, size);
	if (order_read(&o, (struct str){ (const char *)copy, size }, &err) < 0 && !err.msg[0])
		abort();
	order_done(&o);
	found = field_find(copy, size, &length);
	if (found && (found < copy || length > size || found + length > copy + size))
		abort();
	free(copy);
	return 0;
}
