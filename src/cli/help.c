#include "cli/help.h"

#include <stdio.h>

#include "cli/command.h"
#include "cli/say.h"

void help_all(void)
{
	size_t nr;
	const struct command *all = command_table(&nr);

	printf("culprit: why is this request slow, and what is to blame?\n\n"
	       "usage: culprit COMMAND [OPTIONS] INPUT...\n\n");
	for (size_t i = 0; i < nr; i++)
		if (!all[i].is_hidden)
			printf("  %-11s %s\n", all[i].name, all[i].summary);
	printf("\nStart with: culprit analyze LOGS-OR-TRACES\n"
	       "More on one of them: culprit help COMMAND, or man culprit-COMMAND\n"
	       "Exit status: 0 answered, 1 nothing found, 2 could not.\n");
}

static void help_options(const struct option *o)
{
	char name[64];

	if (!o[0].name)
		return;
	printf("\nOptions:\n");
	for (; o->name; o++) {
		snprintf(name, sizeof(name), "--%s%s%s", o->name, o->metavar ? " " : "",
			 o->metavar ? o->metavar : "");
		printf("  %-22s %s\n", name, o->help);
	}
}

void help_command(const struct command *c)
{
	printf("culprit %s: %s\n\nusage: culprit %s [OPTIONS] %s\n", c->name, c->summary, c->name,
	       c->usage);
	if (c->about)
		printf("\n%s\n", c->about);
	help_options(c->options);
	if (!c->examples)
		return;
	printf("\nExamples:\n");
	for (const struct example *e = c->examples; e->command; e++)
		printf("  culprit %s\n      %s\n", e->command, e->says);
}

static void list_examples(void)
{
	size_t nr;
	const struct command *all = command_table(&nr);

	for (size_t i = 0; i < nr; i++)
		for (const struct example *e = all[i].examples; e && e->command; e++)
			printf("culprit %s\n", e->command);
}

int cmd_help(const struct call *call)
{
	const struct command *c;

	if (call_has(call, "examples")) {
		list_examples();
		return EXIT_ANSWERED;
	}
	if (!call->nr_inputs) {
		help_all();
		return EXIT_ANSWERED;
	}
	c = command_find(call->inputs[0]);
	if (!c) {
		say_error("there is no command '%s'; see: culprit help", call->inputs[0]);
		return EXIT_CANNOT;
	}
	help_command(c);
	return EXIT_ANSWERED;
}
