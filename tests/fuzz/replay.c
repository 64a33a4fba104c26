/*
 * Feeds saved inputs to a fuzz target without a fuzzer, so that every build replays what fuzzing
 * once found.
 *
 * usage: replay_<reader> FILE|DIRECTORY...
 *
 * Each input stands in a buffer of exactly its size, as under libFuzzer, so that the address
 * sanitizer sees a read one byte past the end. The name of an input is printed before it is run
 * only with REPLAY_VERBOSE set; a crash prints it from the signal handler in every case.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static const char *current; /* the input under test, for the handler of a crash */

static void name_the_input(void)
{
	static const char head[] = "replay: failed on ";

	if (!current)
		return;
	/* nothing can be done about a failed write in a dying process */
	if (write(STDERR_FILENO, head, sizeof(head) - 1) < 0 ||
	    write(STDERR_FILENO, current, strlen(current)) < 0 || write(STDERR_FILENO, "\n", 1) < 0)
		return;
}

static void on_signal(int nr)
{
	name_the_input();
	signal(nr, SIG_DFL);
	raise(nr);
}

static int replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	uint8_t *data;
	size_t size;

	if (!f || fstat(fileno(f), &st) < 0) {
		fprintf(stderr, "replay: cannot open '%s': %s\n", path, strerror(errno));
		exit(2);
	}
	size = (size_t)st.st_size;
	data = malloc(size ? size : 1);
	if (!data || fread(data, 1, size, f) != size) {
		fprintf(stderr, "replay: cannot read '%s'\n", path);
		exit(2);
	}
	fclose(f);
	if (getenv("REPLAY_VERBOSE"))
		fprintf(stderr, "replay: %s, %zu bytes\n", path, size);
	current = path;
	LLVMFuzzerTestOneInput(data, size);
	current = NULL;
	free(data);
	return 1;
}

static int is_visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

/* Runs a file, or every file of a directory in the order of the names; returns how many were run.
 */
static int replay(const char *path)
{
	struct dirent **entries;
	struct stat st;
	int nr, done = 0;

	if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		return replay_file(path);
	nr = scandir(path, &entries, is_visible, alphasort);
	if (nr < 0) {
		fprintf(stderr, "replay: cannot open '%s': %s\n", path, strerror(errno));
		exit(2);
	}
	for (int i = 0; i < nr; i++) {
		char child[4096];

		snprintf(child, sizeof(child), "%s/%s", path, entries[i]->d_name);
		done += replay(child);
		free(entries[i]);
	}
	free(entries);
	return done;
}

int main(int argc, char **argv)
{
	int done = 0;

	signal(SIGABRT, on_signal);
	signal(SIGALRM, on_signal);
	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(name_the_input);
	else
		signal(SIGSEGV, on_signal);
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (int i = 1; i < argc; i++)
		done += replay(argv[i]);
	printf("%d inputs replayed\n", done);
	if (!done)
		fprintf(stderr, "replay: no input found: a fuzz target needs a saved corpus\n");
	return done ? 0 : 1;
}
