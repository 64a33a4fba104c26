#include "ask/gone.h"

#include "ask/complaints.h"
#include "ask/length.h"
#include "ask/novel.h"
#include "ask/words.h"
#include "base/time.h"

#define COMPLAINTS_READ 100 /* of each node */
#define NOVEL_NS (15 * NS_S)
#define LEAST_NOVEL 3 /* statements about one address */

struct hearing {
	struct store *store;
	const struct activity *activity;
	struct arena *arena;
};

/* What others say of a node that is gone. */
static int add_complaints(struct hearing *l, const struct silence *s, struct anomaly *one,
			  struct error *err)
{
	struct complaints c = { 0 };
	const struct complaint *most;
	int r = complaints_read(&c, l->store, l->activity, s->node, s->begin, s->end,
				COMPLAINTS_READ, err);

	most = complaints_most(&c);
	if (most) {
		one->said = arena_str(l->arena, most->text);
		one->who = arena_str(l->arena, names_str(&l->activity->nodes, most->node));
		one->peer = arena_str(l->arena, complaints_address(&c));
	}
	complaints_done(&c);
	return r;
}

/* Of the addresses that several lines name: the one that is the node's own, or the one that most of
 * all lines name. Returns how many do. */
static int choose_address(struct hearing *l, const struct complaints *c, size_t nr_lines,
			  sym_t node, struct str *address, uint64_t *named, struct error *err)
{
	struct str texts[NOVEL_ASKED];
	uint64_t lines[NOVEL_ASKED];
	sym_t who[NOVEL_ASKED];
	size_t nr = 0;
	int r;

	for (size_t i = 0; i < c->named.nr && nr < NOVEL_ASKED; i++) {
		texts[nr] = complaints_named(c, i, &lines[nr]);
		nr += lines[nr] >= LEAST_NOVEL;
	}
	r = novel_said_first(l->store, l->activity, texts, nr, who, err);
	for (size_t i = 0; i < nr && r >= 0; i++)
		if ((who[i] == node || 2 * lines[i] >= nr_lines) && lines[i] > *named) {
			*named = lines[i];
			*address = texts[i];
		}
	return r;
}

/* Whether others come to statements that they never came to before, and these are about one
 * address: a log that was merely cut off changes nothing for others. */
static int find_novel(struct hearing *l, const struct silence *s, struct anomaly *one,
		      struct error *err)
{
	int64_t len = length_ns(s->begin, s->end);
	struct novel n = { 0 };
	struct complaints c = { 0 };
	const struct complaint *said;
	struct str address = STR("");
	int r = novel_find(&n, l->store, l->activity, s->node, s->begin,
			   length_after(s->begin, len < NOVEL_NS ? len : NOVEL_NS), err);

	if (r >= 0)
		r = complaints_read_lines(&c, l->store, l->activity, n.events.v, n.events.nr, err);
	if (r >= 0 && n.events.nr)
		r = choose_address(l, &c, n.events.nr, s->node, &address, &one->novel, err);
	said = complaints_about(&c, address);
	if (one->novel && said) {
		one->confidence = 1 - 1 / (1 + (double)one->novel);
		one->peer = arena_str(l->arena, address);
		one->said = arena_str(l->arena, said->text);
		one->who = arena_str(l->arena, names_str(&l->activity->nodes, said->node));
	}
	complaints_done(&c);
	novel_done(&n);
	return r;
}

int gone_bears_out(struct store *s, const struct activity *a, const struct silence *silence,
		   struct arena *arena, struct anomaly *one, struct error *err)
{
	struct hearing l = { s, a, arena };
	bool orderly;
	int r = words_at_end(s, &a->v.v[silence->node - 1], arena, &one->last, &orderly, err);

	if (r < 0 || orderly)
		return r;
	r = silence->complained ? add_complaints(&l, silence, one, err)
				: find_novel(&l, silence, one, err);
	return r < 0 ? r : silence->complained || one->novel;
}
