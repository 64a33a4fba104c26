/* culprit completion bash|zsh: completion scripts, made from the command table. */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/say.h"

static void bash(const struct command *all, size_t nr)
{
	printf("# bash completion of culprit\n_culprit()\n{\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} words=\n"
	       "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\twords='");
	for (size_t i = 0; i < nr; i++)
		printf("%s%s", i ? " " : "", all[i].name);
	printf("'\n\telse\n\t\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; i < nr; i++) {
		printf("\t\t%s) words='--help", all[i].name);
		for (const struct option *o = all[i].options; o->name; o++)
			printf(" --%s", o->name);
		printf("%s' ;;\n", strcmp(all[i].name, "completion") ? "" : " bash zsh");
	}
	printf("\t\tesac\n\tfi\n"
	       "\tcase $cur in\n"
	       "\t-*) mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\") ;;\n"
	       "\t*)\n"
	       "\t\tif [ \"$COMP_CWORD\" -eq 1 ] || [ \"${COMP_WORDS[1]}\" = completion ]; then\n"
	       "\t\t\tmapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
	       "\t\telse\n"
	       "\t\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	       "\t\t\tcompopt -o filenames\n"
	       "\t\tfi ;;\n"
	       "\tesac\n}\ncomplete -F _culprit culprit\n");
}

/* Within single quotes of a zsh _arguments spec: these would end the quote or the description. */
static void zsh_text(const char *s)
{
	for (; *s; s++) {
		if (*s == '\'')
			printf("'\\''");
		else if (*s == '[' || *s == ']' || *s == ':')
			printf("\\%c", *s);
		else
			putchar(*s);
	}
}

static void zsh_options(const struct command *c)
{
	for (const struct option *o = c->options; o->name; o++) {
		printf(" \\\n\t\t\t'--%s[", o->name);
		zsh_text(o->help);
		printf("]");
		if (o->metavar)
			printf(":%s:%s", o->metavar, strcmp(o->metavar, "FILE") ? "" : "_files");
		printf("'");
	}
}

static void zsh(const struct command *all, size_t nr)
{
	printf("#compdef culprit\n_culprit() {\n\tlocal -a commands\n\tcommands=(");
	for (size_t i = 0; i < nr; i++) {
		printf("\n\t\t'%s:", all[i].name);
		zsh_text(all[i].summary);
		printf("'");
	}
	printf("\n\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command "
	       "commands\n\t\treturn\n\tfi\n"
	       "\tlocal name=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n\tcase $name in\n");
	for (size_t i = 0; i < nr; i++) {
		printf("\t\t%s) _arguments", all[i].name);
		zsh_options(&all[i]);
		printf(" \\\n\t\t\t%s ;;\n", strcmp(all[i].name, "completion")
						     ? "'*:input:_files'"
						     : "':shell:(bash zsh)'");
	}
	printf("\tesac\n}\n_culprit \"$@\"\n");
}

int cmd_completion(const struct call *call)
{
	size_t nr;
	const struct command *all = command_table(&nr);

	if (!strcmp(call->inputs[0], "bash")) {
		bash(all, nr);
	} else if (!strcmp(call->inputs[0], "zsh")) {
		zsh(all, nr);
	} else {
		say_error("no completion for '%s'; there is: bash, zsh", call->inputs[0]);
		return EXIT_CANNOT;
	}
	return EXIT_ANSWERED;
}
