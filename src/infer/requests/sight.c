#include "infer/requests/sight.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/skeleton.h"
#include "infer/requests/match.h"
#include "infer/requests/match_name.h"
#include "infer/requests/match_words.h"
#include "infer/requests/plain.h"
#include "infer/requests/tokens.h"
#include "model/event.h"

static char *put_varint(char *p, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*p++ = (char)(v | 0x80);
	*p++ = (char)v;
	return p;
}

static char *put_bytes(char *p, struct str s)
{
	memcpy(p, s.p, s.n);
	return p + s.n;
}

enum { LINES = 2048, WORDS_TEXT = 1024 /* bytes of a line in which words are looked for */ };

/* What lines are about that differ in their digits only, or names of threads. */
struct known_line {
	uint64_t hash;
	uint32_t statement;
	uint16_t nr_text, nr_shape;
	struct tokens_recipe recipe;
	char text[]; /* of the skeleton, then the shape */
};

/* Each has one place only, where the last one that belongs there stays. */
struct memory {
	struct known_line *lines[LINES];
	uint32_t seen[LINES]; /* hash of the line that was there last: the second is remembered */
};

void *sight_remember(void)
{
	return mem_zalloc(sizeof(struct memory));
}

void sight_forget(void *memory)
{
	struct memory *m = memory;

	for (size_t i = 0; i < LINES; i++)
		free(m->lines[i]);
	free(m);
}

static bool is_known(const struct known_line *l, const struct skeleton *k)
{
	return l && skeleton_is(k, l->hash, (struct str){ l->text, l->nr_text });
}

/* Whether it is worth to be kept. */
static bool was_seen(struct memory *m, const struct skeleton *k)
{
	uint32_t *seen = &m->seen[k->hash % LINES], mark = (uint32_t)(k->hash >> 32);
	bool was = *seen == mark;

	*seen = mark;
	return was;
}

static void keep_line(struct known_line **to, const struct skeleton *k, uint32_t statement,
		      const struct tokens *t, const struct tokens_recipe *recipe)
{
	struct known_line *l = mem_realloc(*to, sizeof(*l) + k->n + t->nr_shape);

	l->hash = k->hash;
	l->statement = statement;
	l->nr_text = (uint16_t)k->n;
	l->nr_shape = (uint16_t)t->nr_shape;
	l->recipe = *recipe;
	memcpy(l->text, k->text, k->n);
	memcpy(l->text + k->n, t->shape, t->nr_shape);
	*to = l;
}

/* What a thread's name names, from memory if one was seen that differs in its digits only. */
static void look_at_thread(struct memory *m, struct str thread, struct tokens *t)
{
	struct tokens_recipe recipe;
	struct known_line **l;
	struct skeleton k;

	if (!m || !skeleton_begin(&k, thread) || !skeleton_add(&k, STR("thread"))) {
		tokens_find_names(t, thread);
		return;
	}
	skeleton_end(&k);
	l = &m->lines[k.hash % LINES];
	if (is_known(*l, &k) && !(*l)->recipe.is_bad) {
		tokens_follow(t, thread, &(*l)->recipe);
	} else if (is_known(*l, &k) || !was_seen(m, &k)) {
		tokens_find_names(t, thread);
	} else {
		tokens_note(t, thread, false, &recipe);
		keep_line(l, &k, 0, t, &recipe);
	}
}

/* Whether a number is among the names that two ends have agreed on. */
static bool is_message(const struct tokens *t)
{
	for (unsigned i = 0; i < t->nr; i++)
		if (t->v[i].kind.p[0] == '@')
			return true;
	return false;
}

/* The first words that stand in the holes of the statement; where none is known, those behind the
 * first line, which is the shape of the text. Keys as in key=value are left out. */
static void add_words(const void *ctx, uint32_t statement, struct str message, struct tokens *t,
		      struct tokens_recipe *recipe)
{
	size_t at = statement ? 0 : str_find_char(message, '\n');
	unsigned until = t->nr + SIGHT_WORDS;
	struct str word, front = str_head(message, WORDS_TEXT);

	t->lacks_words = at < message.n && message.n > WORDS_TEXT;
	while (!t->lacks_words && plain_next(front, &at, &word)) {
		const char *end = word.p + word.n;

		if ((end < message.p + message.n && *end == '=') ||
		    (statement && matcher_writes(ctx, statement, word)))
			continue;
		t->lacks_words = until > TOKENS_MAX || t->nr == until;
		if (!t->lacks_words)
			tokens_add_word(t, message, word, recipe);
	}
	if (!recipe)
		return;
	recipe->is_bad |= t->is_cut;
	recipe->lacks_words = t->lacks_words;
}

/* The statement that wrote the line, and what it names. Where the statement is known, the shape is
 * asked for of messages only. The recipe is bad if digits decide: each line is looked at then. */
static void look(const void *ctx, struct event *ev, struct str message, struct tokens *t,
		 struct tokens_recipe *recipe)
{
	bool by_digits = false;

	if (ctx)
		ev->statement = matcher_statement(ctx, ev->point, ev->level, message,
						  recipe ? &by_digits : NULL);
	if (recipe)
		tokens_note(t, message, !ev->statement, recipe);
	else if (ev->statement)
		tokens_find_names(t, message);
	if (recipe ? ev->statement && is_message(t) : !ev->statement || is_message(t))
		tokens_find(t, message);
	add_words(ctx, ctx ? ev->statement : 0, message, t, recipe);
	if (recipe)
		recipe->is_bad |= by_digits;
}

static bool skeleton_of(struct skeleton *k, const struct event *ev, struct str message)
{
	const uint16_t more[] = { (uint16_t)message.n, (uint16_t)ev->level };

	if (!skeleton_begin(k, message) || !skeleton_add(k, ev->point) ||
	    !skeleton_add(k, (struct str){ (const char *)more, sizeof(more) }))
		return false;
	skeleton_end(k);
	return true;
}

static void recall(const struct known_line *l, struct event *ev, struct str message,
		   struct tokens *t)
{
	ev->statement = l->statement;
	tokens_follow(t, message, &l->recipe);
	memcpy(t->shape, l->text + l->nr_text, l->nr_shape);
	t->nr_shape = l->nr_shape;
}

/* The same from memory, if a line was seen that differs in its digits only. */
static void look_again(const void *ctx, struct memory *m, struct event *ev, struct str message,
		       struct tokens *t)
{
	struct tokens_recipe recipe;
	struct known_line **l;
	struct skeleton k;

	if (!m || !skeleton_of(&k, ev, message)) {
		look(ctx, ev, message, t, NULL);
		return;
	}
	l = &m->lines[k.hash % LINES];
	if (is_known(*l, &k) && !(*l)->recipe.is_bad) {
		recall(*l, ev, message, t);
	} else if (is_known(*l, &k) || !was_seen(m, &k)) {
		look(ctx, ev, message, t, NULL);
	} else {
		look(ctx, ev, message, t, &recipe);
		keep_line(l, &k, ev->statement, t, &recipe);
	}
}

void sight_event_again(const void *ctx, void *memory, struct event *ev, struct str message,
		       struct arena *arena)
{
	struct tokens own, thread;
	char *start, *p;

	look_again(ctx, memory, ev, message, &own);
	if (ctx && ev->statement)
		ev->point = matcher_point_name(ctx, ev->statement);
	look_at_thread(memory, ev->thread, &thread);
	start = arena_room(arena, own.nr_shape + own.nr_words + thread.nr_words + 32);
	p = put_varint(start, own.nr_shape);
	p = put_bytes(p, (struct str){ own.shape, own.nr_shape });
	*p++ = (char)((own.is_cut || thread.is_cut ? SIGHT_CUT : 0) |
		      (own.lacks_words ? SIGHT_LACKS_WORDS : 0));
	p = put_varint(p, own.nr);
	p = put_varint(p, thread.nr);
	p = put_bytes(p, (struct str){ own.words, own.nr_words });
	p = put_bytes(p, (struct str){ thread.words, thread.nr_words });
	ev->values = (struct str){ start, (size_t)(p - start) };
}

void sight_event(const void *ctx, struct event *ev, struct str message, struct arena *arena)
{
	sight_event_again(ctx, NULL, ev, message, arena);
}

bool sight_open(struct sight *s, struct str values)
{
	uint64_t n;

	*s = (struct sight){ .rest = values };
	if (!str_take_varint(&s->rest, &n) || n >= s->rest.n)
		return false;
	s->shape = str_head(s->rest, n);
	s->rest = str_skip(s->rest, n);
	s->flags = (unsigned char)s->rest.p[0];
	s->rest = str_skip(s->rest, 1);
	return str_take_varint(&s->rest, &s->nr_own) && str_take_varint(&s->rest, &s->nr_thread);
}

bool sight_next(struct sight *s, struct str *name)
{
	if (s->rest.n < sizeof(s->hash))
		return false;
	memcpy(&s->hash, s->rest.p, sizeof(s->hash));
	s->rest = str_skip(s->rest, sizeof(s->hash));
	return str_take_bytes(&s->rest, name);
}

void sight_put(struct buf *b, struct str name)
{
	uint64_t hash = str_hash(name);

	buf_add(b, (struct str){ (const char *)&hash, sizeof(hash) });
	buf_bytes(b, name);
}
