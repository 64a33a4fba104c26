/* Headers of HTTP requests, which anybody may send, against the guard of the page. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "web/asked.h"
#include "web/guard.h"
#include "web/reply.h"

#define TOKEN "0123456789abcdef"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int holds(const char *header)
{
	return header && strstr(header, TOKEN) != NULL;
}

/* Lines of the input are the headers in turn; a missing one is absent. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct guard guards[] = { { NULL, false, 7272, "own.example" },
					       { TOKEN, true, 443, NULL } };
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

		/* nobody comes in without the token, wherever it stands */
		if (guard_lets_in(&guards[i], &a, &r) && i && !holds(a.cookie) &&
		    !holds(a.authorization))
			abort();
		reply_done(&r);
	}
	free(text);
	return 0;
}
