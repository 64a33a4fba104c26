#include "cli/parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/command.h"

static size_t nr_options(const struct option *o)
{
	size_t nr = 0;

	while (o[nr].name)
		nr++;
	return nr;
}

/* Edits needed to turn one word into the other; words are short. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[64];
	size_t nb = strlen(b);

	if (nb >= 63 || strlen(a) >= 63)
		return 99;
	for (size_t j = 0; j <= nb; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; a[i - 1]; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned change = diagonal + (a[i - 1] != b[j - 1]);
			unsigned least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;

			diagonal = row[j];
			row[j] = change < least ? change : least;
		}
	}
	return row[nb];
}

const char *parse_near(const char *word, const char *const *words)
{
	const char *best = NULL;
	unsigned least = 3;

	for (; *words; words++) {
		unsigned d = distance(word, *words);

		if (d < least) {
			least = d;
			best = *words;
		}
	}
	return best;
}

static int unknown_option(const struct command *c, const char *name, struct error *err)
{
	size_t nr = nr_options(c->options);
	const char **words = mem_zalloc(mem_bytes(nr + 1, sizeof(*words)));
	const char *near;

	for (size_t i = 0; i < nr; i++)
		words[i] = c->options[i].name;
	near = parse_near(name, words);
	free(words);
	if (near)
		return error_set(err, EINVAL, "'%s' has no option --%s; did you mean --%s?",
				 c->name, name, near);
	return error_set(err, EINVAL, "'%s' has no option --%s; see: culprit help %s", c->name,
			 name, c->name);
}

/* The option that this argument names, with what follows '=' in *value; -1 when there is none. */
static int find_option(const struct command *c, const char *arg, const char **value)
{
	static const char *const shorts[][2] = { { "-o", "output" },
						 { "-n", "limit" },
						 { "-i", "interface" },
						 { "-p", "pid" },
						 { "-f", "format" } };
	size_t n;

	*value = NULL;
	if (arg[1] != '-') {
		for (size_t i = 0; i < sizeof(shorts) / sizeof(*shorts); i++)
			if (!strcmp(arg, shorts[i][0]))
				for (int k = 0; c->options[k].name; k++)
					if (!strcmp(c->options[k].name, shorts[i][1]))
						return k;
		return -1;
	}
	arg += 2;
	n = strcspn(arg, "=");
	if (arg[n] == '=')
		*value = arg + n + 1;
	for (int k = 0; c->options[k].name; k++)
		if (strlen(c->options[k].name) == n && !strncmp(c->options[k].name, arg, n))
			return k;
	return -1;
}

/* Values of an option that may be repeated ("NAME...") stand behind each other, with commas. */
static void add_value(struct call *call, int k, const char *value)
{
	const char *old = call->values[k];

	if (!old || !str_ends(str_of(call->options[k].metavar), STR("...")))
		call->values[k] = value;
	else
		call->values[k] =
			arena_z(&call->arena, arena_fmt(&call->arena, "%s,%s", old, value));
}

static int take_option(struct call *call, int argc, char **argv, int *at, struct error *err)
{
	const struct command *c = call->command;
	const char *value, *arg = argv[*at];
	int k = find_option(c, arg, &value);

	if (k < 0)
		return unknown_option(c, arg + strspn(arg, "-"), err);
	if (!c->options[k].metavar) {
		if (value)
			return error_set(err, EINVAL, "--%s takes no value", c->options[k].name);
		call->values[k] = "";
		return 0;
	}
	if (!value && *at + 1 >= argc)
		return error_set(err, EINVAL, "--%s needs a value: --%s %s", c->options[k].name,
				 c->options[k].name, c->options[k].metavar);
	add_value(call, k, value ? value : argv[++*at]);
	return 0;
}

static int check_inputs(const struct call *call, struct error *err)
{
	const struct command *c = call->command;

	if (call->nr_inputs < c->inputs_min)
		return error_set(err, EINVAL, "'%s' needs %s; usage: culprit %s %s", c->name,
				 c->inputs_min == 2 ? "two runs" : "an input", c->name, c->usage);
	if (c->inputs_max && call->nr_inputs > c->inputs_max)
		return error_set(err, EINVAL, "'%s' takes no more than %u; usage: culprit %s %s",
				 c->name, c->inputs_max, c->name, c->usage);
	return 0;
}

int parse_call(const struct command *command, int argc, char **argv, struct call *call, bool *help,
	       struct error *err)
{
	bool only_inputs = false;
	int got = 0;

	*help = false;
	*call = (struct call){ .command = command, .options = command->options };
	call->values =
		mem_zalloc(mem_bytes(nr_options(command->options) + 1, sizeof(*call->values)));
	call->inputs = mem_zalloc(mem_bytes((size_t)argc + 1, sizeof(*call->inputs)));
	for (int i = 0; i < argc && got >= 0; i++) {
		if (!only_inputs && (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")))
			*help = true;
		else if (!only_inputs && !strcmp(argv[i], "--"))
			only_inputs = call->is_behind_dashes = true;
		else if (!only_inputs && argv[i][0] == '-' && argv[i][1])
			got = take_option(call, argc, argv, &i, err);
		else
			call->inputs[call->nr_inputs++] = argv[i];
	}
	if (got >= 0 && !*help)
		got = check_inputs(call, err);
	return got;
}

void parse_done(struct call *call)
{
	free(call->values);
	free(call->inputs);
	arena_done(&call->arena);
	*call = (struct call){ 0 };
}
