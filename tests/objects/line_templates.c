/* Prints the template of each line of text on standard input, for score-templates. Arguments are
 * the programs that wrote them, if any. */
#include <stdio.h>
#include <stdlib.h>

#include "ident/line.h"
#include "model/loss.h"

int main(int argc, char **argv)
{
	static struct line l;
	struct line_aids aids = { 0 };
	struct losses losses = { 0 };
	struct constants *c = argc > 1 ? constants_new(0) : NULL;
	char *text = NULL;
	size_t room = 0;
	ssize_t n;

	if (c) {
		constants_load(c, (const char *const *)argv + 1, (size_t)argc - 1, &losses);
		constants_settle(c, &losses);
		aids.constants = c;
	}
	while ((n = getline(&text, &room, stdin)) > 0) {
		line_read(&l, (struct str){ text, (size_t)n - (text[n - 1] == '\n') }, &aids);
		printf("%016llx\t" STR_FMT "\n", (unsigned long long)l.template, STR_ARG(l.title));
	}
	cover_done(&aids.cover);
	if (c)
		constants_free(c);
	free(text);
	return 0;
}
