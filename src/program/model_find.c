/* The indexes of a model file, asked: by the ending of a logger's name, and by file and line. */
#include "program/model_file.h"

#include "program/model_format.h"

/* A dot before everything else, so that "NameNode" is followed by all "….NameNode". */
static int rank(char c)
{
	return c == '.' ? 0 : (unsigned char)c + 1;
}

int model_ending_cmp(struct str a, struct str b)
{
	while (a.n && b.n) {
		int x = rank(a.p[--a.n]), y = rank(b.p[--b.n]);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return a.n ? 1 : b.n ? -1 : 0;
}

static bool is_named(struct str name, struct str ending)
{
	return str_ends(name, ending) &&
	       (name.n == ending.n || name.p[name.n - ending.n - 1] == '.');
}

struct model_range model_find_logger(const struct model_file *m, struct str ending)
{
	uint32_t low = 0, high = model_nr_loggers(m), end;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (model_ending_cmp(model_logger(m, middle).name, ending) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < model_nr_loggers(m); end++)
		if (!is_named(model_logger(m, end).name, ending))
			break;
	return (struct model_range){ low, end - low };
}

static int place_cmp(const struct model_place *p, struct str file, uint32_t line)
{
	int r = str_cmp(p->file, file);

	return r ? r : p->line < line ? -1 : p->line > line;
}

struct model_range model_find_place(const struct model_file *m, struct str file, uint32_t line)
{
	uint32_t low = 0, high = model_nr_places(m), end;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		struct model_place p = model_place(m, middle);

		if (place_cmp(&p, file, line) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < model_nr_places(m); end++) {
		struct model_place p = model_place(m, end);

		if (place_cmp(&p, file, line))
			break;
	}
	return (struct model_range){ low, end - low };
}
