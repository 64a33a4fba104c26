/* Prints the template of each line of text on standard input, for score-templates. */
#include <stdio.h>
#include <stdlib.h>

#include "ident/line.h"

int main(void)
{
	static struct line l;
	char *text = NULL;
	size_t room = 0;
	ssize_t n;

	while ((n = getline(&text, &room, stdin)) > 0) {
		line_read(&l, (struct str){ text, (size_t)n - (text[n - 1] == '\n') });
		printf("%016llx\t" STR_FMT "\n", (unsigned long long)l.template, STR_ARG(l.title));
	}
	free(text);
	return 0;
}
