/* A library that a JVM loads in tests. It tells the options that it was given, in the file that
 * they name: "status PATH", "write PATH WORDS"; then it returns RETURNS. */
#include <stdio.h>
#include <string.h>

__attribute__((visibility("default"))) int Agent_OnAttach(void *vm, char *options, void *reserved);

static unsigned nr_calls;

int Agent_OnAttach(void *vm, char *options, void *reserved)
{
	char path[1025] = "", *space = options ? strchr(options, ' ') : NULL;
	FILE *f;

	(void)vm;
	(void)reserved;
	nr_calls++;
	if (space)
		snprintf(path, sizeof(path), "%.*s", (int)strcspn(space + 1, " "), space + 1);
	f = fopen(path, "a");
	if (f) {
		fprintf(f, "options\t%s\ncalls\t%u\n", options, nr_calls);
		fclose(f);
	}
	return RETURNS;
}
