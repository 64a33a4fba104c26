/*
 * A line is first held against the statements of the source file or logger that it names, then
 * against all. Among those that fit, the one counts that stands in the line that was printed, then
 * one of the level, then the one with the most constant text, then one with numbers where numbers
 * belong.
 */
#include "infer/requests/match.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "infer/requests/match_build.h"
#include "infer/requests/match_name.h"
#include "infer/requests/match_where.h"

/* Of constant text. Fewer letters say too little where the logger does not agree. */
enum {
	LETTERS_FOREIGN = 16, /* the logger is another one */
	LETTERS_OPEN = 4,     /* the logger may be any */
	LETTERS_OPAQUE = 20,  /* the logger is another one than that, which may write anything */
	LETTERS_ELSEWHERE = 12,
	LETTERS_FRONT = 16, /* of a message that goes on otherwise, or breaks off */
};

#define MESSAGE_MAX ((size_t)16 << 10) /* what follows is no longer looked at */

enum stage {
	STAGE_FILE,   /* among the statements of the file that is printed */
	STAGE_LOGGER, /* of the logger */
	STAGE_FRONT,  /* of either, by their fronts */
	STAGE_ALL,
};

struct search {
	enum stage stage;
	struct match_where where;
	struct str logger; /* one that agrees */
	enum level level;
	struct str first; /* line of the message */
	struct match_ask ask;
	uint64_t score;  /* of *to; 0: nothing yet */
	bool is_bare;    /* values are not asked for */
	bool *by_digits; /* where it is noted that digits may decide, or NULL */
	bool is_opaque;  /* the logger has statements of which no text is known */
	const struct match_pattern *best;
	struct match *to;
};

/* Scores are compared as numbers: what says more stands higher. */
#define SCORE_LINE ((uint64_t)1 << 41)
#define SCORE_LEVEL ((uint64_t)1 << 40)
#define SCORE_LETTERS 8
#define SCORE_FIT 4 /* below: the fewer parts may be anything, the better */

static bool has_level(const struct search *s, const struct match_pattern *p)
{
	return p->level == LEVEL_NONE || s->level == LEVEL_NONE || p->level == (uint8_t)s->level;
}

/*
 * Letters that count where the logger does not agree; 0 when it cannot have written the line. One
 * long constant says more than many short ones. A logger with statements that may write anything
 * explains the line without strangers, and a file that no model has is that of another program.
 */
static uint64_t letters_of_stranger(const struct search *s, const struct match_pattern *p)
{
	size_t longest = p->literal < p->nr ? p->parts[p->literal].text.n : 0;

	if (!s->where.file.n && (p->is_open || !s->where.logger.n)) {
		bool is_plain = !s->is_opaque || p->begins;

		return longest < (is_plain ? LETTERS_OPEN : LETTERS_FOREIGN) ? 0 : p->letters;
	}
	if (longest < (s->is_opaque || s->where.file.n ? LETTERS_OPAQUE : LETTERS_FOREIGN) ||
	    !has_level(s, p))
		return 0;
	return p->letters - LETTERS_FOREIGN + 1;
}

/* Most statements under the last word of a logger have one and the same. */
static bool is_logger(struct search *s, struct str logger)
{
	if (logger.p == s->logger.p && logger.n == s->logger.n)
		return true;
	if (!match_where_is(s->where.logger, logger))
		return false;
	s->logger = logger;
	return true;
}

/* How good it would be if it fitted; 0 when it is not to be considered. */
static uint64_t promise(struct search *s, const struct match_item *it)
{
	const struct match_pattern *p = it->pattern;
	uint64_t letters = p->letters;
	bool is_line = false;

	if (s->stage == STAGE_ALL) {
		letters = letters_of_stranger(s, p);
		if (!letters)
			return 0;
	} else {
		if (s->stage == STAGE_LOGGER && !is_logger(s, it->logger))
			return 0;
		is_line = s->where.line && s->where.line == p->line;
		if (!letters && !is_line) {
			s->is_opaque |= has_level(s, p);
			return 0;
		}
	}
	return (is_line ? SCORE_LINE : 0) | (has_level(s, p) ? SCORE_LEVEL : 0) |
	       letters << SCORE_LETTERS | FIT_WHOLE << SCORE_FIT | (15U - p->nr_any);
}

static enum match_fit fit_either(const struct search *s, const struct match_pattern *p,
				 struct match *to)
{
	enum match_fit fit = match_fit(p, s->first, to);

	if (fit == FIT_WHOLE || s->first.n == s->ask.message.n)
		return fit;
	return fit ? fit : match_fit(p, s->ask.message, to);
}

static void take(struct search *s, const struct match_pattern *p, const struct match *fitted)
{
	s->best = p;
	s->to->nr_also = 0;
	if (fitted && fitted != s->to) {
		s->to->nr = fitted->nr;
		memcpy(s->to->values, fitted->values, fitted->nr * sizeof(*fitted->values));
	}
	/* no statement of a better class can come, so letters alone decide from here on */
	if (s->stage < STAGE_FRONT && (!s->where.line || s->score & SCORE_LINE))
		s->ask.least = p->letters;
}

/* Another statement of the same program. */
static bool is_rival(const struct match_pattern *best, const struct match_pattern *p)
{
	return p->model == best->model && p->point != best->point;
}

static void note_also(struct search *s, const struct match_pattern *p)
{
	if (!is_rival(s->best, p))
		return;
	for (unsigned i = 0; i < s->to->nr_also; i++)
		if (s->to->also[i] == p->point)
			return;
	if (s->to->nr_also < MATCH_ALSO)
		s->to->also[s->to->nr_also++] = p->point;
}

static void consider(void *ctx, const struct match_item *it)
{
	struct search *s = ctx;
	const struct match_pattern *p = it->pattern;
	uint64_t score = promise(s, it);
	struct match scratch, *to = s->is_bare ? NULL : s->best ? &scratch : s->to;
	enum match_fit fit;

	if (!score || score < s->score || (score == s->score && !is_rival(s->best, p)))
		return;
	fit = fit_either(s, p, to);
	if (!fit)
		return;
	score -= (uint64_t)(FIT_WHOLE - fit) << SCORE_FIT;
	if (score > s->score) {
		s->score = score;
		take(s, p, to);
	} else if (score == s->score) {
		note_also(s, p);
	}
}

static void note_digits(const struct search *s, const struct match_set *set)
{
	if (s->by_digits)
		*s->by_digits |= match_set_by_digits(set, s->ask.message);
}

static bool search_set(struct search *s, const struct match_set *set, enum stage stage)
{
	s->stage = stage;
	if (!set)
		return false;
	note_digits(s, set);
	s->ask.levels = s->level == LEVEL_NONE ? MATCH_ANY_LEVEL : match_level_bit(s->level);
	match_set_visit(set, &s->ask);
	/* a layout may say other levels than the statements do, or another line of the file */
	if (!s->best && s->level != LEVEL_NONE && stage != STAGE_ALL) {
		s->ask.levels = MATCH_ANY_LEVEL;
		match_set_visit(set, &s->ask);
	}
	return s->best != NULL;
}

static void consider_front(void *ctx, const struct match_item *it)
{
	struct search *s = ctx;
	const struct match_pattern *p = it->pattern;
	struct match scratch, *to = s->is_bare ? NULL : s->best ? &scratch : s->to;
	uint64_t letters;

	if (!p->begins || (s->where.logger.n && !is_logger(s, it->logger)))
		return;
	letters = match_fit_front(p, s->ask.message, to);
	if (letters < LETTERS_FRONT || letters < s->score)
		return;
	if (letters > s->score) {
		s->score = letters;
		take(s, p, to);
	} else if (is_rival(s->best, p)) {
		note_also(s, p);
	}
}

/*
 * A message that was cut, or to which another version of the program adds something, is that of the
 * one statement that it begins like.
 */
static bool search_front(struct search *s, const struct match_set *set)
{
	if (!set)
		return false;
	s->stage = STAGE_FRONT;
	note_digits(s, set);
	s->ask.visit = consider_front;
	s->ask.levels = s->level == LEVEL_NONE ? MATCH_ANY_LEVEL : match_level_bit(s->level);
	match_set_visit_begun(set, &s->ask);
	s->ask.visit = consider;
	if (s->best && !s->to->nr_also)
		return true;
	s->best = NULL;
	s->score = 0;
	s->ask.least = 0;
	return false;
}

static const struct match_set *set_named(const struct match_sets *sets, struct str name)
{
	sym_t sym = names_find(&sets->names, name);

	return sym ? sets->v[sym] : NULL;
}

static float sureness(const struct search *s)
{
	float sure = s->best->letters >= 10 ? 0.99F : s->best->letters >= 4 ? 0.9F : 0.6F;

	if (s->score & SCORE_LINE)
		sure = 1;
	else if (s->where.line)
		sure *= 0.8F; /* the program is another version, or has two files of that name */
	if (s->stage == STAGE_FRONT)
		return 0.5F;
	if (s->stage == STAGE_ALL)
		sure *= !s->where.file.n && (s->best->is_open || !s->where.logger.n) ? 0.8F : 0.5F;
	if (!(s->score & SCORE_LEVEL))
		sure *= 0.5F;
	if (!(s->score >> SCORE_FIT & FIT_WHOLE))
		sure *= 0.8F;
	if (s->to->nr_also)
		sure *= 0.7F;
	return sure;
}

static int answer(struct search *s)
{
	s->to->model = s->best->model;
	s->to->point = s->best->point;
	s->to->version = s->best->version;
	s->to->sure = sureness(s);
	return 1;
}

/* The statement in the line that was printed, although none of its texts fits. */
static int find_place(const struct matcher *m, const struct search *s)
{
	for (unsigned i = 0; i < m->nr; i++) {
		struct model_range at =
			model_find_place(m->models[i], s->where.file, s->where.line);

		for (uint32_t k = at.first; k < at.first + at.nr; k++) {
			uint32_t point = model_place(m->models[i], k).point;
			enum level level = model_point(m->models[i], point).level;

			if (level != LEVEL_NONE && s->level != LEVEL_NONE && level != s->level)
				continue;
			s->to->model = i;
			s->to->point = point;
			s->to->version = MODEL_NO;
			s->to->nr = s->to->nr_also = 0;
			s->to->sure = 0.7F;
			return 1;
		}
	}
	return 0;
}

static int find_in_file(const struct matcher *m, struct search *s)
{
	search_set(s, set_named(&m->files, s->where.file), STAGE_FILE);
	if (!s->best || !s->where.line || s->score & SCORE_LINE)
		return s->best ? answer(s) : s->where.line ? find_place(m, s) : 0;
	/* a model of another version has other lines: text that says enough is believed more */
	if (s->best->letters >= LETTERS_ELSEWHERE && s->score & SCORE_LEVEL)
		return answer(s);
	return find_place(m, s) || answer(s);
}

static void search_begin(struct search *s, struct str point, enum level level, struct str message,
			 struct match *to)
{
	*s = (struct search){ .where = match_where_of(point), .level = level, .to = to };
	s->ask.visit = consider;
	s->ask.ctx = s;
	while (message.n && isspace((unsigned char)message.p[0]))
		message = str_skip(message, 1);
	s->ask.message = str_head(message, MESSAGE_MAX);
	s->first = str_head(s->ask.message, str_find_char(s->ask.message, '\n'));
	if (s->first.n && s->first.p[s->first.n - 1] == '\r')
		s->first.n--;
}

static int search(const struct matcher *m, struct search *s)
{
	const struct match_set *set;

	if (!s->ask.message.n)
		return 0;
	if (s->where.file.n && find_in_file(m, s))
		return 1;
	set = s->where.logger.n ? set_named(&m->loggers, match_where_last(s->where.logger))
	      : s->where.file.n ? set_named(&m->files, s->where.file)
				: NULL;
	if (s->where.logger.n && search_set(s, set, STAGE_LOGGER))
		return answer(s);
	if (search_front(s, set))
		return answer(s);
	return search_set(s, m->all, STAGE_ALL) ? answer(s) : 0;
}

int matcher_find(const struct matcher *m, struct str point, enum level level, struct str message,
		 struct match *to)
{
	struct search s;

	search_begin(&s, point, level, message, to);
	return search(m, &s);
}

uint32_t matcher_statement(const struct matcher *m, struct str point, enum level level,
			   struct str message, bool *by_digits)
{
	struct match found;
	struct search s;

	search_begin(&s, point, level, message, &found);
	s.is_bare = true;
	s.by_digits = by_digits;
	return search(m, &s) ? matcher_number(m, found.model, found.point) : 0;
}

int matcher_thread(const struct matcher *m, struct str name, struct match *to)
{
	struct search s;

	search_begin(&s, (struct str){ "", 0 }, LEVEL_NONE, name, to);
	return s.ask.message.n && search_set(&s, m->threads, STAGE_FILE) ? answer(&s) : 0;
}

int matcher_new(struct matcher **m, const struct model_file *const *models, unsigned nr,
		struct error *err)
{
	struct matcher *made;
	uint64_t all = 0;

	for (unsigned i = 0; i < nr; i++)
		all += model_nr_points(models[i]);
	if (all >= UINT32_MAX)
		return error_set(err, E2BIG,
				 "the models hold more log statements than can be "
				 "numbered");
	made = mem_zalloc(sizeof(*made));
	made->nr = nr;
	made->models = arena_array(&made->arena, const struct model_file *, nr + 1);
	for (unsigned i = 0; i < nr; i++)
		made->models[i] = models[i];
	match_build(made);
	match_name_points(made);
	match_words_find(made);
	*m = made;
	return 0;
}

void matcher_free(struct matcher *m)
{
	if (!m)
		return;
	names_done(&m->loggers.names);
	names_done(&m->files.names);
	arena_done(&m->arena);
	free(m);
}

uint32_t matcher_number(const struct matcher *m, uint32_t model, uint32_t point)
{
	return m->points[model] + point;
}

uint32_t matcher_thread_number(const struct matcher *m, uint32_t model, uint32_t name)
{
	return m->names[model] + name;
}

static const struct model_file *number_of(const struct matcher *m, const uint32_t *first,
					  uint32_t number, uint32_t *model, uint32_t *record)
{
	for (unsigned i = 0; i < m->nr; i++) {
		if (number < first[i] || number >= first[i + 1])
			continue;
		*model = i;
		*record = number - first[i];
		return m->models[i];
	}
	return NULL;
}

const struct model_file *matcher_point(const struct matcher *m, uint32_t number, uint32_t *model,
				       uint32_t *point)
{
	return number_of(m, m->points, number, model, point);
}

const struct model_file *matcher_thread_name(const struct matcher *m, uint32_t number,
					     uint32_t *model, uint32_t *name)
{
	return number_of(m, m->names, number, model, name);
}

uint32_t matcher_nr_points(const struct matcher *m)
{
	return m->points[m->nr] - 1;
}

uint32_t matcher_nr_thread_names(const struct matcher *m)
{
	return m->names[m->nr] - 1;
}
