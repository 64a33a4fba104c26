/* culprit: why is this request slow, and what is to blame? */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/parse.h"
#include "cli/say.h"

static int unknown_command(const char *name)
{
	size_t nr;
	const struct command *all = command_table(&nr);
	const char **words = mem_zalloc(mem_bytes(nr + 1, sizeof(*words)));
	const char *near;

	for (size_t i = 0; i < nr; i++)
		words[i] = all[i].name;
	near = parse_near(name, words);
	free(words);
	if (near)
		say_error("there is no command '%s'; did you mean '%s'?", name, near);
	else
		say_error("there is no command '%s'; see: culprit help", name);
	return EXIT_CANNOT;
}

static int run_command(const struct command *c, int argc, char **argv)
{
	struct error err = { 0 };
	struct call call;
	bool help;
	int status = EXIT_CANNOT;

	if (parse_call(c, argc, argv, &call, &help, &err) < 0) {
		say_error("%s", err.msg);
	} else if (help) {
		help_command(c);
		status = EXIT_ANSWERED;
	} else {
		status = c->run(&call);
	}
	parse_done(&call);
	return status;
}

int main(int argc, char **argv)
{
	const struct command *c;

	setlocale(LC_CTYPE, "");
	/* a reader that leaves early (head) is told by the write, not by a signal that leaves files
	 * behind */
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2) {
		help_all();
		return EXIT_CANNOT;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("culprit %s\n", CULPRIT_VERSION);
		return EXIT_ANSWERED;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		help_all();
		return EXIT_ANSWERED;
	}
	c = command_find(argv[1]);
	return c ? run_command(c, argc - 2, argv + 2) : unknown_command(argv[1]);
}
