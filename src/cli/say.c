#include "cli/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void say_error(const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* a line that is set in shows a place in what was typed */
	for (char *p = text; *p; p++)
		if (((unsigned char)*p < 0x20 && strncmp(p, "\n  ", 3)) || *p == 0x7f)
			*p = '?';
	fprintf(stderr, "culprit: %s\n", text);
}
