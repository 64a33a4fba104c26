#include "model/shown.h"

#include <string.h>

size_t shown_name(struct str shown, char *name)
{
	size_t nr = 0;

	for (size_t i = 0; i < shown.n; i++) {
		char c = shown.p[i];

		if (c == '#')
			c = '_';
		if (memchr("_-. ", c, 4) && (!nr || memchr("_-. ", name[nr - 1], 4)))
			continue;
		name[nr++] = c;
	}
	while (nr && memchr("_-. :,", name[nr - 1], 6))
		nr--;
	return nr;
}
