/*
 * Each end hands out numbers of its own, so that both use the same number at about the same time
 * for different questions. What tells an answer from a question is the habit of its statement:
 * before nearly every answer of one sort the other end used the number in a question of one sort;
 * before a question it did so by chance. Costs a sort of the lines that name such a number.
 */
#include "infer/requests/agreed.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	BACK_MAX = 8, /* earlier uses of a number that are looked at */
	SEEN_MIN = 3, /* answers that show a habit */
};
#define NEARLY_ALWAYS 0.9
#define WITHIN_NS (60 * INT64_C(1000000000))

/* A line that names a number. */
struct use {
	int64_t ns;
	uint32_t line, number, type;
	uint32_t end;              /* who used it, as a thing; 0 unknown */
	uint32_t before[BACK_MAX]; /* 1 + uses of the other end before it, the last one first */
};

struct agreeing {
	struct work *w;
	VEC(struct use) uses; /* by number, then time */
	struct map pairs;     /* two types: so many of the second stand behind one of the first */
	uint32_t *nr;         /* of each type: uses */
	uint32_t *question;   /* of each type that answers: 1 + the type of its questions */
	bool *is_question;
};

static void list_uses(struct agreeing *a)
{
	const struct gather *g = a->w->g;

	for (uint32_t i = 0; i < g->lines.nr; i++) {
		const struct seen_line *l = &g->lines.v[i];
		uint32_t end = 0;

		for (unsigned k = 0; k < l->nr_own; k++) {
			uint32_t thing = line_names(a->w, l)[k];
			const struct kind_look *look = work_look(a->w, thing);

			if (look->is_sender)
				end = thing;
			if (!look->is_agreed || look->is_sender)
				continue;
			vec_push(&a->uses, (struct use){ .ns = l->ns,
							 .line = i,
							 .number = thing,
							 .type = l->type,
							 .end = end });
			end = 0;
		}
	}
}

static int by_number(const void *x, const void *y)
{
	const struct use *a = x, *b = y;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	return a->line < b->line ? -1 : a->line > b->line;
}

/* Whether who used it talks to itself: one address is both ends. */
static bool is_alone(const struct work *w, uint32_t number)
{
	struct str value = gather_value(w->g, number);
	size_t at = str_find_char(value, '+');

	return at + 1 == value.n;
}

/* What the other end did with the number before. */
static void look_back(struct agreeing *a, size_t at)
{
	struct use *u = &a->uses.v[at];
	bool is_self = is_alone(a->w, u->number);
	unsigned nr = 0;

	for (size_t i = at; i-- > 0 && at - i <= BACK_MAX;) {
		const struct use *b = &a->uses.v[i];
		bool is_new = b->type != u->type && (is_self || b->end != u->end);

		if (b->number != u->number || u->ns - b->ns > WITHIN_NS)
			break;
		if (!is_new)
			continue;
		u->before[nr] = (uint32_t)i + 1;
		for (unsigned k = 0; k < nr && is_new; k++)
			is_new = a->uses.v[u->before[k] - 1].type != b->type;
		nr++;
		if (is_new)
			(*map_at(&a->pairs, map_pair(b->type, u->type)))++;
	}
	a->nr[u->type]++;
}

/* Which sort of line answers which, once all are seen. */
static void find_habits(struct agreeing *a)
{
	uint64_t *best = mem_realloc(NULL, mem_bytes(a->w->g->types.nr + 1, sizeof(*best)));

	memset(best, 0, (a->w->g->types.nr + 1) * sizeof(*best));
	for (const struct map_slot *s = NULL; (s = map_next(&a->pairs, s));) {
		uint32_t first = (uint32_t)(s->key >> 32), next = (uint32_t)s->key;
		bool is_better = s->value > best[next] ||
				 (s->value == best[next] && first + 1 < a->question[next]);

		if (a->nr[next] < SEEN_MIN || (double)s->value < NEARLY_ALWAYS * a->nr[next] ||
		    !is_better)
			continue;
		best[next] = s->value;
		a->question[next] = first + 1;
	}
	for (uint32_t i = 0; i < a->w->g->types.nr; i++)
		if (a->question[i])
			a->is_question[a->question[i] - 1] = true;
	free(best);
}

/* The question that the line answers. What is too seldom to show a habit answers what nobody else
 * does. */
static uint32_t question_of(const struct agreeing *a, const struct use *u)
{
	uint32_t type = a->question[u->type];

	for (unsigned i = 0; i < BACK_MAX && u->before[i]; i++) {
		const struct use *b = &a->uses.v[u->before[i] - 1];

		if (type ? b->type + 1 == type
			 : a->nr[u->type] < SEEN_MIN && !a->is_question[b->type] &&
				    !a->question[b->type])
			return b->line + 1;
	}
	return 0;
}

uint32_t agreed_number(const struct work *w, const struct seen_line *l)
{
	for (unsigned i = 0; i < l->nr_own; i++)
		if (str_eq(names_str(&w->g->kinds, w->g->kind_of.v[line_names(w, l)[i]]), STR("@")))
			return line_names(w, l)[i];
	return 0;
}

void agreed_find(struct work *w)
{
	struct agreeing a = { .w = w };
	size_t nr_types = w->g->types.nr + 1;

	list_uses(&a);
	if (!a.uses.nr)
		return;
	a.nr = mem_realloc(NULL, mem_bytes(2 * nr_types, sizeof(*a.nr)));
	memset(a.nr, 0, 2 * nr_types * sizeof(*a.nr));
	a.question = a.nr + nr_types;
	a.is_question = mem_realloc(NULL, nr_types);
	memset(a.is_question, 0, nr_types);
	qsort(a.uses.v, a.uses.nr, sizeof(*a.uses.v), by_number);
	for (size_t i = 0; i < a.uses.nr; i++)
		look_back(&a, i);
	find_habits(&a);
	w->answers = mem_realloc(NULL, mem_bytes(w->g->lines.nr, sizeof(*w->answers)));
	memset(w->answers, 0, w->g->lines.nr * sizeof(*w->answers));
	vec_each (&a.uses, u)
		if (!w->answers[u->line])
			w->answers[u->line] = question_of(&a, u);
	free(a.nr);
	free(a.is_question);
	map_done(&a.pairs);
	vec_done(&a.uses);
}
