/* Headers of HTTP requests, which anybody may send, against the guard of the page. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "web/asked.h"
#include "web/guard.h"
#include "web/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Lines of the input are the headers in turn; a missing one is absent. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct guard guards[] = { { NULL, false, 7272 },
					       { "0123456789abcdef", true, 443 } };
	char *text = malloc(size + 1), *rest = text;
	struct asked a = { .method = "GET", .path = "/" };
	const char **fields[] = { &a.host,   &a.origin,        &a.site,
				  &a.cookie, &a.authorization, &a.params[0].value };

	memcpy(text, data, size);
	text[size] = '\0';
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields) && rest; i++)
		*fields[i] = strsep(&rest, "\n");
	if (a.params[0].value) {
		a.params[0].name = "token";
		a.nr_params = 1;
	}
	for (size_t i = 0; i < 2; i++) {
		struct reply r = { 0 };

		guard_lets_in(&guards[i], &a, &r);
		reply_done(&r);
	}
	free(text);
	return 0;
}
