#include "ask/warnings.h"

#include "ask/alike.h"
#include "ask/complaints.h"
#include "ask/length.h"
#include "ask/stats.h"
#include "base/error.h"
#include "base/time.h"
#include "store/store.h"

#define READ_MOST 400 /* warnings of each node */
#define LEAST 10      /* warnings of one kind on one node */
#define MORE 5        /* times as many as on any of its peers */
#define LEAST_SURE 0.999
#define JUST_AFTER_NS (200 * NS_MS)
#define LINES_MOST 64
#define SHORTER 0.5 /* what is named, of the length that was seen */
#define LONGER 1.2

/* --- on one node only ------------------------------------------------------------------------ */

static size_t same_on(const struct complaints *c, const struct complaint *one, sym_t node)
{
	vec_each (&c->v, other)
		if (other->node == node && str_eq(other->text, one->text))
			return other->times.nr;
	return 0;
}

/* How often its peers say the same at most; false when it has none. */
static bool peers_say(const struct complaints *c, const struct activity *a,
		      const struct complaint *one, size_t *most)
{
	bool any = false;

	*most = 0;
	for (sym_t node = 1; node <= a->v.nr; node++) {
		size_t nr;

		if (node == one->node ||
		    !alike_names(names_str(&a->nodes, node), names_str(&a->nodes, one->node)))
			continue;
		any = true;
		nr = same_on(c, one, node);
		*most = nr > *most ? nr : *most;
	}
	return any;
}

int warnings_find(struct store *s, const struct activity *a, struct arena *arena,
		  struct anomaly_list *out, struct error *err)
{
	struct complaints c = { 0 };
	int r = complaints_read(&c, s, a, 0, INT64_MIN, INT64_MAX, READ_MOST, err);

	vec_each (&c.v, one) {
		struct anomaly found = { .kind = ANOMALY_WARNINGS };
		size_t most;

		if (one->times.nr < LEAST || !peers_say(&c, a, one, &most) ||
		    one->times.nr < MORE * (most + 1))
			continue;
		found.confidence = stats_more_often(one->times.nr, one->times.nr + most, most,
						    one->times.nr + most);
		if (found.confidence < LEAST_SURE)
			continue;
		found.node = arena_str(arena, names_str(&a->nodes, one->node));
		found.said = arena_str(arena, one->text);
		found.who = found.node;
		found.often = (double)one->times.nr;
		found.before = (double)most;
		found.begin = one->times.v[0];
		found.end = one->times.v[one->times.nr - 1];
		vec_push(&out->v, found);
	}
	complaints_done(&c);
	return r;
}

/* --- what a node says of its own pause -------------------------------------------------------- */

struct after {
	struct store *s;
	struct str node;
	int64_t end, length;
	struct arena *arena;
	struct str said;
	struct buf text;
	unsigned nr_lines;
};

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

static int look_after(void *ctx, uint64_t number, const struct event *ev)
{
	struct after *a = ctx;
	struct error err = { 0 };

	(void)number;
	if (ev->ns < length_after(a->end, -JUST_AFTER_NS / 4) ||
	    ev->ns > length_after(a->end, JUST_AFTER_NS) || !str_eq(ev->node, a->node) ||
	    a->nr_lines >= LINES_MOST)
		return 0;
	a->nr_lines++;
	buf_clear(&a->text);
	if (store_event_text(a->s, ev, &a->text, &err) <= 0 ||
	    !names_length(buf_str(&a->text), a->length))
		return 0;
	a->said = arena_str(a->arena, str_head(buf_str(&a->text), 240));
	return 1;
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

int warnings_of_pause(struct store *s, struct str node, int64_t end, int64_t length,
		      struct arena *arena, struct str *said, struct error *err)
{
	struct after a = { .s = s, .node = node, .end = end, .length = length, .arena = arena };
	struct store_totals totals;
	int r = store_totals(s, &totals, err);

	if (r >= 0 && totals.nr_events)
		r = store_each_event(s, 0, totals.nr_events, look_after, &a, err);
	buf_done(&a.text);
	*said = message_of(a.said);
	return r < 0 ? r : 0;
}
