/* One command of the program: help, completion and the manual's list come from this. */
#ifndef CULPRIT_CLI_COMMAND_H
#define CULPRIT_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "ask/question.h"
#include "base/arena.h"

enum exit_status { EXIT_ANSWERED = 0, EXIT_NOTHING = 1, EXIT_CANNOT = 2 };

struct command;

/* What the user typed after the command's name. */
struct call {
	const struct command *command;
	const struct option *options; /* ends with a zero name */
	const char **values;          /* by option: NULL when absent, "" for a switch */
	char **inputs;
	size_t nr_inputs;
	bool is_behind_dashes; /* the inputs stand behind "--": they are a command */
	struct arena arena;    /* of values that were put together */
};

struct command {
	const char *name;
	const char *summary;
	const char *usage; /* what follows the name */
	const char *about; /* paragraphs for the help, or NULL */
	const struct option *options;
	const struct example *examples;
	const struct question *question; /* for commands that put one */
	unsigned inputs_min, inputs_max; /* max 0: any number */
	bool is_hidden;
	int (*run)(const struct call *call); /* an exit status */
};

/* All of them, those that put a question included; nr counts them. */
const struct command *command_table(size_t *nr);
const struct command *command_find(const char *name);

/* The commands that are not questions. */
int cmd_analyze(const struct call *call);
int cmd_ask(const struct call *call);
int cmd_attach(const struct call *call);
int cmd_learn(const struct call *call);
int cmd_record(const struct call *call);
int cmd_agent(const struct call *call);
int cmd_hub(const struct call *call);
int cmd_export(const struct call *call);
int cmd_serve(const struct call *call);
int cmd_step(const struct call *call);
int cmd_variance(const struct call *call);
int cmd_query(const struct call *call);
int cmd_tracepoints(const struct call *call);
int cmd_help(const struct call *call);
int cmd_completion(const struct call *call);

const char *call_get(const struct call *call, const char *name);
static inline bool call_has(const struct call *call, const char *name)
{
	return call_get(call, name) != NULL;
}

#endif
