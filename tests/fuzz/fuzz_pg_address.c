/* Any address is taken or explained; a password is never shown, and what is shown means the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "store/pg_address.h"

#define SECRET "Xq9"

static void check_same(const struct pg_address *a)
{
	struct pg_address again = { 0 };
	struct error err = { 0 };

	if (pg_address_parse(&again, a->shown, NULL, &err) || !a->run != !again.run ||
	    (a->run && strcmp(a->run, again.run)) || strcmp(a->schema, again.schema) ||
	    strcmp(a->shown, again.shown))
		abort();
	pg_address_done(&again);
}

/* The same place with a password: as libpq reads it, credentials end before the first slash. */
static void check_secret(struct str rest)
{
	struct pg_address a = { 0 };
	struct error err = { 0 };
	struct buf b = { 0 };

	buf_fmt(&b, "postgresql://me:%s@", SECRET);
	buf_add(&b, rest);
	buf_char(&b, 0);
	if (str_find(rest, STR(SECRET)) == rest.n) {
		if (!pg_address_parse(&a, b.p, NULL, &err) && strstr(a.shown, SECRET))
			abort();
		if (strstr(err.msg, SECRET))
			abort();
	}
	pg_address_done(&a);
	buf_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pg_address a = { 0 };
	struct error err = { 0 };
	char *text = malloc(size + 1);

	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	if (pg_address_parse(&a, text, NULL, &err)) {
		if (!err.code || !err.msg[0])
			abort();
	} else {
		check_same(&a);
	}
	check_secret(str_of(text));
	pg_address_done(&a);
	free(text);
	return 0;
}
