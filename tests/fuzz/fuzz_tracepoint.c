/* A file of tracepoints is read, or it is said in which line it is wrong; what was read can be read
 * again from its own text. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "query/tracepoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct error err = { 0 };
	struct tracepoints t, again;
	char *copy = malloc(size + 1);

	memcpy(copy, data, size);
	if (tracepoints_parse(STR("f"), (struct str){ copy, size }, &arena, &t, &err) < 0) {
		if (!strstr(err.msg, "line ") && !strstr(err.msg, "larger"))
			abort();
	} else {
		for (size_t i = 0; i < t.nr && i < 16; i++) {
			if (tracepoints_parse(STR("f"), t.v[i].text, &arena, &again, &err) < 0 ||
			    again.nr != 1 || again.v[0].nr_places != t.v[i].nr_places ||
			    again.v[0].nr_exports != t.v[i].nr_exports ||
			    !tracepoints_find(&t, 1, t.v[i].name))
				abort();
		}
	}
	free(copy);
	arena_done(&arena);
	return 0;
}
