#include "capture/weave/java.h"

#include "base/buf.h"
#include "wire/probe_region.h"

static const char *const moments[] = { [MOMENT_ENTRY] = "entry",
				       [MOMENT_EXIT] = "exit",
				       [MOMENT_EXCEPTION] = "exception",
				       [MOMENT_LINE] = "line" };

/* Where the method's name begins: behind the last dot, or at its annotation, "C.@a.b.Timed". */
static size_t method_at(struct str name)
{
	size_t dot = name.n;

	for (size_t i = 1; i + 1 < name.n; i++)
		if (name.p[i] == '.' && name.p[i + 1] == '@')
			return i + 1;
	while (dot && name.p[dot - 1] != '.')
		dot--;
	return dot;
}

/* "a.b.C.method(types)": the class, the method, what stands in brackets; empty: any. Class and
 * method may be annotations, with an @ before them. */
static bool name_split(struct str name, struct str *class, struct str *method, struct str *types)
{
	size_t open = str_find_char(name, '('), dot;

	*types = str_skip(name, open);
	name = str_head(name, open);
	dot = method_at(name);
	if (dot < 2 || dot == name.n)
		return false;
	*class = str_head(name, dot - 1);
	*method = str_skip(name, dot);
	return !types->n || types->p[types->n - 1] == ')';
}

bool java_place(const struct tracepoint *t, const struct tracepoint_place *at, struct buf *out,
		struct buf *told)
{
	struct str class, method, types;

	if (!name_split(at->name, &class, &method, &types)) {
		buf_fmt(told, STR_FMT ": '" STR_FMT "' is no class with a method\n",
			STR_ARG(t->name), STR_ARG(at->name));
		return false;
	}
	buf_fmt(out, "%s\t%u\t" STR_FMT "\t" STR_FMT "\t" STR_FMT "\n", moments[at->moment],
		at->line, STR_ARG(class), STR_ARG(method), STR_ARG(types));
	for (size_t i = 0; i < t->nr_exports; i++)
		buf_fmt(out, "export\t%zu\t" STR_FMT "\n", i, STR_ARG(t->exports[i].expression));
	return true;
}

void java_place_asked(struct str place, uint64_t inputs, struct buf *out)
{
	struct str line, rest;
	uint64_t number = 0;

	while (str_take_until(&place, '\n', &line)) {
		rest = line;
		if (!str_take(&rest, STR("export\t")) ||
		    (str_take_uint(&rest, &number) && inputs >> (ADVICE_INPUT_OWN + number) & 1))
			buf_fmt(out, STR_FMT "\n", STR_ARG(line));
	}
}

void java_takings(const struct tracepoint *t, struct advice_taking takings[TRACEPOINT_EXPORTS])
{
	for (size_t i = 0; i < t->nr_exports; i++) {
		takings[i] =
			(struct advice_taking){ .from = PROBE_FROM_VALUE, .number = (uint8_t)i };
		if (str_eq(str_trim(t->exports[i].expression), STR("duration")))
			takings[i].from = ADVICE_FROM_DURATION;
	}
}

/* Up to a tab, or what is left. */
static struct str field(struct str *line)
{
	struct str f;

	if (!str_take_until(line, '\t', &f)) {
		f = *line;
		line->n = 0;
	}
	return f;
}

bool java_answer_take(struct str *text, struct java_answer *a)
{
	struct str line, word, number;
	uint64_t n = 0;

	if (!str_take_until(text, '\n', &line))
		return false;
	word = field(&line);
	*a = (struct java_answer){ .said = str_eq(word, STR("woven"))     ? JAVA_WOVEN
					   : str_eq(word, STR("refused")) ? JAVA_REFUSED
					   : str_eq(word, STR("left"))    ? JAVA_LEFT
					   : str_eq(word, STR("error"))   ? JAVA_ERROR
					   : str_eq(word, STR("done"))    ? JAVA_DONE
									  : JAVA_OTHER };
	if (a->said == JAVA_WOVEN || a->said == JAVA_REFUSED || a->said == JAVA_LEFT) {
		number = field(&line);
		if (!str_take_uint(&number, &n) || n > UINT32_MAX)
			a->said = JAVA_OTHER;
		a->function = (uint32_t)n;
		a->method = field(&line);
		a->why = line;
	} else {
		a->method = line;
	}
	return true;
}
