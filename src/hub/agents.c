#include "hub/agents.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "model/mention_pack.h"

#define AGENTS_MAX 65536
#define RANGES_MAX 4096 /* of one agent: beyond, its oldest gap is taken to stay one */
#define NAME_DIGITS 6   /* of the id, where two hosts have the same name */

void agents_done(struct agents *a)
{
	vec_each (&a->v, one) {
		free(one->name);
		free(one->host);
		vec_done(&one->ranges);
	}
	vec_done(&a->v);
	names_done(&a->ids);
}

/* The first of a name has it, others get a part of their id. */
static char *name_of(const struct agents *a, struct str id, struct str host)
{
	char *name = NULL;
	bool is_free = true;

	vec_each (&a->v, one)
		is_free &= !one->host || !str_eq(str_of(one->host), host);
	if (asprintf(&name, "%.*s%s%.*s", (int)host.n, host.p, is_free ? "" : "~",
		     is_free ? 0 : (int)(id.n < NAME_DIGITS ? id.n : NAME_DIGITS), id.p) < 0)
		abort();
	return name;
}

struct agents_one *agents_at(struct agents *a, struct str id, struct str host)
{
	sym_t sym = names_find(&a->ids, id);

	if (!sym) {
		if (a->v.nr > AGENTS_MAX || !id.n)
			return NULL;
		sym = names_add(&a->ids, id);
		while (a->v.nr <= sym)
			vec_push(&a->v, (struct agents_one){ 0 });
		a->v.v[sym].name = name_of(a, id, host);
		a->v.v[sym].host = strndup(host.p, host.n);
	}
	return &a->v.v[sym];
}

/* The first range that does not end before seq. */
static size_t place_of(const struct agents_one *one, uint64_t seq)
{
	size_t low = 0, high = one->ranges.nr;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (one->ranges.v[mid].high < seq)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool agents_has(const struct agents_one *one, uint64_t seq)
{
	size_t at = place_of(one, seq);

	return at < one->ranges.nr && one->ranges.v[at].low <= seq;
}

static void remove_range(struct agents_one *one, size_t at)
{
	one->ranges.nr--;
	memmove(one->ranges.v + at, one->ranges.v + at + 1,
		(one->ranges.nr - at) * sizeof(*one->ranges.v));
}

static void insert_range(struct agents_one *one, size_t at, struct agents_range range)
{
	vec_push(&one->ranges, range);
	memmove(one->ranges.v + at + 1, one->ranges.v + at,
		(one->ranges.nr - 1 - at) * sizeof(*one->ranges.v));
	one->ranges.v[at] = range;
}

/* A stretch that touches nothing that is there in part only. */
static void add_range(struct agents_one *one, struct agents_range range)
{
	size_t at = place_of(one, range.low);
	struct agents_range *before = at ? &one->ranges.v[at - 1] : NULL;
	struct agents_range *after = at < one->ranges.nr ? &one->ranges.v[at] : NULL;

	if (before && before->high + 1 == range.low) {
		before->high = range.high;
		if (after && range.high + 1 == after->low) {
			before->high = after->high;
			remove_range(one, at);
		}
	} else if (after && range.high + 1 == after->low) {
		after->low = range.low;
	} else {
		insert_range(one, at, range);
	}
	if (one->ranges.nr > RANGES_MAX) {
		one->ranges.v[1].low = one->ranges.v[0].low;
		remove_range(one, 0);
	}
}

bool agents_add(struct agents_one *one, uint64_t seq)
{
	if (seq == UINT64_MAX || agents_has(one, seq))
		return false;
	add_range(one, (struct agents_range){ seq, seq });
	one->nr_messages++;
	return true;
}

uint64_t agents_nr_missing(const struct agents *a)
{
	uint64_t nr = 0;

	vec_each (&a->v, one)
		for (size_t i = 1; i < one->ranges.nr; i++)
			nr += one->ranges.v[i].low - one->ranges.v[i - 1].high - 1;
	return nr;
}

void agents_write(const struct agents *a, struct buf *b)
{
	for (sym_t sym = 1; sym < a->v.nr; sym++) {
		const struct agents_one *one = &a->v.v[sym];

		mention_escape(b, names_str(&a->ids, sym));
		buf_char(b, ' ');
		mention_escape(b, str_of(one->host));
		for (size_t i = 0; i < one->ranges.nr; i++)
			buf_fmt(b, " %" PRIu64 "-%" PRIu64, one->ranges.v[i].low,
				one->ranges.v[i].high);
		buf_char(b, '\n');
	}
}

/* What is in one and not in the other, bit by bit: ranges of a text may overlap those known. */
static void merge_range(struct agents_one *one, uint64_t low, uint64_t high)
{
	while (low <= high) {
		size_t at = place_of(one, low);
		struct agents_range *after = at < one->ranges.nr ? &one->ranges.v[at] : NULL;
		uint64_t end = high;

		if (after && after->low <= low) {
			low = after->high + 1;
			continue;
		}
		if (after && after->low <= high)
			end = after->low - 1;
		add_range(one, (struct agents_range){ low, end });
		low = end + 1;
	}
}

static bool read_line(struct agents *a, struct str line, struct arena *arena)
{
	struct agents_one *one;
	struct str id, host;

	if (!str_take_until(&line, ' ', &id) || !mention_unescape(arena, id, &id))
		return false;
	host = str_head(line, str_find_char(line, ' '));
	line = str_skip(line, host.n);
	if (!mention_unescape(arena, host, &host))
		return false;
	one = agents_at(a, id, host);
	while (one && line.n) {
		uint64_t low, high;

		if (!str_take_char(&line, ' ') || !str_take_uint(&line, &low) ||
		    !str_take_char(&line, '-') || !str_take_uint(&line, &high) || low > high ||
		    high >= UINT64_MAX - 1)
			return false;
		merge_range(one, low, high);
	}
	return one;
}

bool agents_read(struct agents *a, struct str text)
{
	struct arena arena = { 0 };
	struct str line;
	bool ok = true;

	while (ok && str_take_line(&text, &line))
		ok = read_line(a, line, &arena);
	arena_done(&arena);
	return ok;
}
