#include "cli/address.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"

int address_take(const char *option, const char *text, char *host, size_t room, uint16_t *port,
		 struct error *err)
{
	struct str rest = str_of(text), name = { 0 };
	uint64_t nr = *port;
	bool is_port = !strchr(text, ':') && strspn(text, "0123456789") == strlen(text);
	size_t at = rest.n;

	if (str_take_char(&rest, '[')) {
		if (!str_take_until(&rest, ']', &name))
			return error_set(err, EINVAL, "'%s' lacks a ]", text);
	} else if (!is_port) {
		at = str_find_char(rest, ':');
		name = str_head(rest, at);
		rest = str_skip(rest, at);
	}
	if (rest.n && ((!is_port && !str_take_char(&rest, ':')) || !str_take_uint(&rest, &nr) ||
		       rest.n || nr > UINT16_MAX))
		return error_set(err, EINVAL, "--%s takes HOST:PORT, not '%s'", option, text);
	*port = (uint16_t)nr;
	if (name.n >= room)
		return error_set(err, EINVAL, "the host in '%s' is too long", text);
	snprintf(host, room, STR_FMT, STR_ARG(name));
	return 0;
}
