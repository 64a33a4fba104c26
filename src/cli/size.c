#include "cli/size.h"

#include <errno.h>

#include "base/error.h"
#include "base/str.h"
#include "cli/command.h"

int size_option(const struct call *call, const char *name, uint64_t *bytes, struct error *err)
{
	static const struct {
		char unit;
		unsigned shift;
	} units[] = { { 'k', 10 }, { 'M', 20 }, { 'G', 30 }, { 'T', 40 } };
	const char *text = call_get(call, name);
	struct str s = str_of(text);
	unsigned shift = 0;
	uint64_t n;

	if (!text)
		return 0;
	if (!str_take_uint(&s, &n))
		goto bad;
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (str_take_char(&s, units[i].unit))
			shift = units[i].shift;
	if (s.n || !n || n > UINT64_MAX >> shift)
		goto bad;
	*bytes = n << shift;
	return 0;
bad:
	return error_set(err, EINVAL, "--%s '%s' is no size; write it like 64M or 2G", name, text);
}
