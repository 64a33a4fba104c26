/* What varies is how long another process takes to answer through a pipe, as a slow disk would. */
#include <sys/wait.h>

#include "truth.h"

enum { PARSE, READ_ROW, WRITE_LOG };
static const char *const names[] = { "/parse", "/read_row", "/write_log" };
static int to_disk[2], from_disk[2];

PROBED static void parse(struct truth_row *t, uint32_t *seed)
{
	int64_t at = now_ns();

	burn(roll_between(seed, 20000, 60000));
	t->ns[PARSE] = now_ns() - at;
}

PROBED static void read_row(struct truth_row *t)
{
	int64_t at = now_ns();
	char c = 'r';

	if (write(to_disk[1], &c, 1) != 1 || read(from_disk[0], &c, 1) != 1)
		exit(2);
	t->ns[READ_ROW] = now_ns() - at;
}

PROBED static void write_log(struct truth_row *t, uint32_t *seed)
{
	int64_t at = now_ns();

	rest(roll_between(seed, 100000, 400000));
	t->ns[WRITE_LOG] = now_ns() - at;
}

PROBED static void process_order(struct truth_row *t, uint32_t *seed)
{
	int64_t at = truth_enter(t);

	parse(t, seed);
	read_row(t);
	write_log(t, seed);
	t->total = now_ns() - at;
}

static void disk(void)
{
	uint32_t seed = 23;
	char c;

	while (read(to_disk[0], &c, 1) == 1) {
		rest(roll(&seed) % 10 ? 150000 : 1500000);
		if (write(from_disk[1], &c, 1) != 1)
			break;
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	int64_t until = run_until(argc, argv);
	uint32_t seed = 7;
	pid_t child;

	if (pipe(to_disk) || pipe(from_disk))
		return 2;
	child = fork();
	if (!child) {
		close(to_disk[1]);
		disk();
	}
	close(to_disk[0]);
	truth_begin();
	while (goes_on(until))
		process_order(truth_row(), &seed);
	close(to_disk[1]);
	waitpid(child, NULL, 0);
	truth_write(names, 3);
	return 0;
}
