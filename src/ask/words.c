#include "ask/words.h"

#include "ask/length.h"
#include "base/error.h"
#include "base/time.h"
#include "store/store.h"

#define LINES_MOST 64
#define POINT_LINES 1000 /* of a point that are looked at */
#define SHORTER 0.5      /* what is named, of the length that was seen */
#define LONGER 1.2
#define SAID_BYTES 240

/* --- after a pause --------------------------------------------------------------------------- */

static bool takes_unit(struct str *s, double *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "milliseconds", 1e6 }, { "msec", 1e6 }, { "ms", 1e6 }, { "seconds", 1e9 },
		      { "secs", 1e9 },         { "sec", 1e9 },  { "us", 1e3 }, { "s", 1e9 } };

	str_take_spaces(s);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (str_take(s, str_of(units[i].name))) {
			*ns = units[i].ns;
			return !s->n || !((s->p[0] >= 'a' && s->p[0] <= 'z') || s->p[0] == '_');
		}
	return false;
}

/* Whether the text names about that length: "pause of approximately 2681ms". */
static bool names_length(struct str text, int64_t length)
{
	while (text.n) {
		double v, unit;

		if (text.p[0] < '0' || text.p[0] > '9' || !str_take_double(&text, &v)) {
			text = str_skip(text, 1);
			continue;
		}
		if (takes_unit(&text, &unit) && v * unit >= SHORTER * (double)length &&
		    v * unit <= LONGER * (double)length)
			return true;
	}
	return false;
}

/* From the message on, as it stands there. */
static struct str message_of(struct str line)
{
	size_t end = str_find_char(line, '\n');
	size_t at;

	line = str_head(line, end < line.n ? end : line.n);
	at = str_find(line, STR(": "));
	return at < line.n ? str_skip(line, at + 2) : line;
}

/* What the line says, from its file if need be; false when that is gone. */
static bool read_text(struct store *s, const struct event *ev, struct buf *text)
{
	struct error err = { 0 };

	buf_clear(text);
	if (ev->text.n)
		buf_add(text, ev->text);
	return ev->text.n || store_event_text(s, ev, text, &err) > 0;
}

struct listening {
	struct store *s;
	int64_t length;
	struct arena *arena;
	struct pause_words *out;
	struct buf text;
};

static int listen_to(void *ctx, uint64_t number, const struct event *ev)
{
	struct listening *l = ctx;

	(void)number;
	if (!read_text(l->s, ev, &l->text))
		return 0;
	if (!names_length(buf_str(&l->text), l->length))
		return 0;
	l->out->said = message_of(arena_str(l->arena, str_head(buf_str(&l->text), SAID_BYTES)));
	l->out->point = arena_str(l->arena, ev->point);
	return 0;
}

int words_of_pause(struct store *s, const struct life *life, int64_t begin, int64_t end,
		   struct arena *arena, struct pause_words *out, struct error *err)
{
	struct listening l = {
		.s = s, .length = length_ns(begin, end), .arena = arena, .out = out
	};
	unsigned nr = 0;
	int r = 0;

	*out = (struct pause_words){ 0 };
	vec_each (&life->wakes, w) {
		if (w->end < length_after(end, -l.length / 2) ||
		    w->begin > length_after(begin, l.length / 2) || w->begin >= end)
			continue;
		if (r < 0 || out->said.n || nr++ >= LINES_MOST)
			break;
		r = store_each_event(s, w->event, 1, listen_to, &l, err);
	}
	buf_done(&l.text);
	return r < 0 ? r : 0;
}

struct counting {
	struct store *s;
	const struct activity *a;
	struct str point;
	int64_t *last, *from, *until; /* by node - 1: its last line, its last silence */
	uint64_t nr, about;
	struct buf text;
};

static int count_line(void *ctx, uint64_t number, const struct event *ev)
{
	struct counting *c = ctx;
	sym_t node = names_find(&c->a->nodes, ev->node);
	struct error err = { 0 };
	size_t i = node - 1;

	(void)number;
	if (!node || ev->ns == NS_NONE)
		return 0;
	if (length_ns(c->last[i], ev->ns) >= ACTIVITY_WAKE_NS) {
		c->from[i] = c->last[i];
		c->until[i] = ev->ns;
	}
	c->last[i] = ev->ns;
	if (!str_eq(ev->point, c->point))
		return 0;
	c->nr++;
	if (length_ns(c->until[i], ev->ns) > ACTIVITY_JUST_AFTER_NS)
		return c->nr >= POINT_LINES;
	buf_clear(&c->text);
	if (ev->text.n)
		buf_add(&c->text, ev->text);
	else if (store_event_text(c->s, ev, &c->text, &err) <= 0)
		return 0;
	c->about += names_length(buf_str(&c->text), length_ns(c->from[i], c->until[i]));
	return c->nr >= POINT_LINES;
}

int words_are_about_silence(struct store *s, const struct activity *a, struct str point,
			    double *part, struct error *err)
{
	struct arena arena = { 0 };
	struct counting c = { .s = s, .a = a, .point = point };
	struct store_totals totals;
	int r = store_totals(s, &totals, err);

	c.last = arena_array(&arena, int64_t, a->v.nr + 1);
	c.from = arena_array(&arena, int64_t, a->v.nr + 1);
	c.until = arena_array(&arena, int64_t, a->v.nr + 1);
	if (r >= 0 && totals.nr_events)
		r = store_each_event(s, 0, totals.nr_events, count_line, &c, err);
	*part = c.nr ? (double)c.about / (double)c.nr : 0;
	buf_done(&c.text);
	arena_done(&arena);
	return r < 0 ? r : 0;
}

/* --- at the end ------------------------------------------------------------------------------ */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool has_word(struct str text, struct str word)
{
	for (size_t i = 0; i + word.n <= text.n; i++) {
		size_t k = 0;

		while (k < word.n && lower(text.p[i + k]) == word.p[k])
			k++;
		if (k == word.n)
			return true;
	}
	return false;
}

static bool says_end(struct str text)
{
	static const char *const words[] = { "shutdown", "shut down", "shutting down", "stopping",
					     "stopped",  "exiting",   "sigterm" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (has_word(text, str_of(words[i])))
			return true;
	return false;
}

struct last {
	struct store *s;
	struct buf text;
	bool ends, error;
};

static int see_last(void *ctx, uint64_t number, const struct event *ev)
{
	struct last *l = ctx;

	(void)number;
	if (!read_text(l->s, ev, &l->text))
		return 0;
	l->ends |= says_end(buf_str(&l->text));
	l->error |= ev->level >= LEVEL_ERROR;
	return 0;
}

int words_at_end(struct store *s, const struct life *l, struct arena *arena, struct str *said,
		 bool *orderly, struct error *err)
{
	struct last last = { .s = s };
	int r = 0;

	for (unsigned i = 0; i < LIFE_TAIL && i < l->nr_tail && r >= 0; i++) {
		unsigned at = (l->nr_tail - (l->nr_tail < LIFE_TAIL ? l->nr_tail : LIFE_TAIL) + i) %
			      LIFE_TAIL;

		r = store_each_event(s, l->tail[at], 1, see_last, &last, err);
	}
	*said = message_of(arena_str(arena, str_head(buf_str(&last.text), SAID_BYTES)));
	*orderly = last.ends && !last.error;
	buf_done(&last.text);
	return r < 0 ? r : 0;
}
