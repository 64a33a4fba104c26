/*
 * Learns a layout from any lines with a time. Every line of the sample votes for the format of its
 * first time; then the text in front of the time and behind it is peeled from the left: as long as
 * most lines go on in the same way (a level, a name in brackets, a number, "name: "), that is a
 * field. What is found is written down as a log4j pattern and compiled like one handed over. Lines
 * of a second writer in the same file are learned again without those of the first.
 */
#include "source/layout_kind.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/mem.h"
#include "model/event.h"
#include "model/loss.h"
#include "source/layout_catalogue.h"
#include "source/layout_fields.h"
#include "source/layout_pattern.h"
#include "source/layout_peel.h"

#define VARIANTS_MAX 3
#define SEEK_BYTES 200

struct learned {
	struct layout_fields variants[VARIANTS_MAX];
	size_t nr;
};

/* Where a line's first time stands. */
struct found {
	struct str line;
	size_t at, bytes;
	bool is_known; /* belongs to a variant already */
};

/* I0102 of glog */
static bool is_lettered(struct str line, size_t i)
{
	return i == 1 && line.p[1] >= '0' && line.p[1] <= '9' && line.p[0] >= 'A' &&
	       line.p[0] <= 'Z';
}

static bool may_begin(struct str line, size_t i)
{
	char c = line.p[i], before = i ? line.p[i - 1] : ' ';

	if (is_lettered(line, i))
		return true;
	/* "INFO:2024-…", but not the second half of a time */
	if (before == ':' && i > 1 && c >= '0' && c <= '9' && (line.p[i - 2] | 0x20) >= 'a' &&
	    (line.p[i - 2] | 0x20) <= 'z')
		return true;
	if ((before >= '0' && before <= '9') || before == '.' || before == ':' || before == '-' ||
	    before == '/' || before == '_')
		return false;
	if ((before | 0x20) >= 'a' && (before | 0x20) <= 'z')
		return false;
	return (c >= '0' && c <= '9') || c == '@' || c < 0 ||
	       ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || (before == '[' && c == ' ');
}

static void find_time(const struct layout_times *times, struct found *f, bool weak)
{
	size_t end = f->line.n < SEEK_BYTES ? f->line.n : SEEK_BYTES;

	f->bytes = 0;
	for (size_t i = 0; i < end && !f->bytes; i++) {
		const struct layout_time *t;

		if (!may_begin(f->line, i))
			continue;
		t = layout_times_match(
			times, str_skip(f->line, i),
			(weak ? LAYOUT_TIMES_WEAK : 0) |
				(is_lettered(f->line, i) ? LAYOUT_TIMES_LETTERED : 0),
			&f->bytes);
		/* seconds since the boot are only recognised in brackets */
		if (t && t->lack == LACK_ORIGIN && !(i && f->line.p[i - 1] == '['))
			f->bytes = 0;
		f->at = i;
	}
}

/* How often times of this format go back from line to line: the wrong order of day and month
 * does. */
static void weigh_format(const struct layout_time *t, const struct found *found, size_t nr,
			 size_t *votes, size_t *back)
{
	int64_t last = INT64_MIN;

	*votes = *back = 0;
	for (size_t i = 0; i < nr; i++) {
		struct str s = str_skip(found[i].line, found[i].at), rest = s;
		struct layout_stamp stamp;

		if (found[i].is_known || !found[i].bytes ||
		    !layout_time_take(t, NULL, &rest, &stamp) || s.n - rest.n != found[i].bytes)
			continue;
		++*votes;
		*back += stamp.ns < last;
		last = stamp.ns;
	}
}

static const struct layout_time *choose_format(const struct layout_times *times,
					       const struct found *found, size_t nr, size_t *votes)
{
	const struct layout_time *best = NULL;
	size_t most = 0, least_back = 0;

	for (size_t i = 0; i < layout_times_nr(times); i++) {
		const struct layout_time *t = layout_times_at(times, i);
		size_t v, back;

		weigh_format(t, found, nr, &v, &back);
		if (v > most || (v && v == most && back < least_back)) {
			best = t;
			most = v;
			least_back = back;
		}
	}
	*votes = most;
	return best;
}

/* The fraction as the sample writes it, for the pattern that is shown. */
static void note_fraction(struct layout_time *t, const struct found *f)
{
	struct str text = str_head(str_skip(f->line, f->at), f->bytes);

	for (size_t i = 0; i + 1 < text.n; i++) {
		size_t digits = 0;

		if (text.p[i] != '.' && text.p[i] != ',')
			continue;
		while (i + 1 + digits < text.n && text.p[i + 1 + digits] >= '0' &&
		       text.p[i + 1 + digits] <= '9')
			digits++;
		if (digits && i >= 6) {
			t->fraction = text.p[i];
			t->fraction_digits = (uint8_t)(digits < 9 ? digits : 9);
		}
	}
}

/* Whether any time of this format names its zone. */
static bool has_zone(const struct layout_time *t, const struct found *found, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		struct str rest = str_skip(found[i].line, found[i].at), without;
		struct layout_time bare = *t;
		struct layout_stamp stamp;

		if (found[i].is_known || !found[i].bytes ||
		    !layout_time_take(t, NULL, &rest, &stamp))
			continue;
		/* also a word in the place of a zone that is none */
		layout_time_drop_zone(&bare);
		without = str_skip(found[i].line, found[i].at);
		if (stamp.zoned || !layout_time_take(&bare, NULL, &without, &stamp) ||
		    without.n != rest.n)
			return true;
	}
	return false;
}

/* The lines whose time is of this format, as what stands before and behind it. */
static size_t split_lines(const struct layout_time *t, const struct found *found, size_t nr,
			  struct str *lines, struct str *before, struct str *after)
{
	size_t nr_lines = 0;

	for (size_t i = 0; i < nr; i++) {
		struct str rest = str_skip(found[i].line, found[i].at);
		struct layout_stamp stamp;

		if (found[i].is_known || !found[i].bytes ||
		    !layout_time_take(t, NULL, &rest, &stamp))
			continue;
		lines[nr_lines] = found[i].line;
		before[nr_lines] = str_head(found[i].line, found[i].at);
		after[nr_lines++] = rest;
	}
	return nr_lines;
}

/* Whether the lines of this time are enough to call the file a log. */
static bool is_enough(size_t votes, size_t all, const struct layout_time *t, bool has_place)
{
	if (t->weak)
		return layout_most(votes, all, 30);
	if (!has_place)
		return layout_most(votes, all, 4);
	return votes >= 3 || layout_most(votes, all, 2);
}

static bool peel_fields(struct layout *layout, struct str *before, struct str *after, size_t nr,
			struct layout_fields *f, bool *has_place)
{
	struct peel peel = { .times = layout->times };
	int r;

	*has_place = peel_before(&peel, before, nr);
	buf_add(&peel.pattern, STR("%d"));
	peel_after(&peel, after, nr);
	buf_add(&peel.pattern, STR("%m"));
	if (peel.past)
		f->past = *peel.past;
	r = layout_pattern_compile(f, buf_str(&peel.pattern), &layout->arena, NULL);
	if (!r && !*has_place)
		f->ops[f->time_op].step = STEP_SEEK_TIME;
	f->ends_in_logger = peel.ends_in_logger;
	f->ends_in_duration = peel.ends_in_duration;
	buf_done(&peel.pattern);
	return !r;
}

static bool learn_fields(struct layout *layout, const struct layout_time *format,
			 const struct found *found, size_t nr, struct layout_fields *f)
{
	struct str *lines = mem_zalloc(mem_bytes(3 * nr, sizeof(*lines)));
	struct str *before = lines + nr, *after = before + nr;
	size_t nr_lines = split_lines(format, found, nr, lines, before, after);
	bool has_place = true, ok;

	ok = layout_catalogue_find(layout, format, lines, nr_lines, f);
	if (!ok) {
		f->time = *format;
		ok = peel_fields(layout, before, after, nr_lines, f, &has_place);
	}
	free(lines);
	return ok && is_enough(nr_lines, nr, format, has_place);
}

/* Marks the lines that the fields read, so that the next variant is learned from the others. */
static size_t mark_known(const struct layout *layout, const struct layout_fields *f,
			 struct found *found, size_t nr)
{
	struct layout_worker *worker = layout_worker_new(layout);
	struct losses losses = { 0 };
	struct arena arena = { 0 };
	struct event ev;
	size_t nr_known = 0;

	for (size_t i = 0; i < nr; i++) {
		if (found[i].is_known || layout_fields_parse(f, layout, worker, found[i].line,
							     &arena, &ev, &losses, NULL) != 1)
			continue;
		found[i].is_known = true;
		nr_known++;
	}
	arena_done(&arena);
	layout_worker_free(worker);
	return nr_known;
}

static bool learn_variant(struct layout *layout, struct learned *l, struct found *found, size_t nr)
{
	struct layout_fields *f = &l->variants[l->nr];
	const struct layout_time *format;
	struct layout_time bare;
	size_t votes;

	*f = (struct layout_fields){ 0 };
	format = choose_format(layout->times, found, nr, &votes);
	if (!format)
		return false;
	/* another writer of the file, not times inside the text of the first */
	if (l->nr && (format->weak || format->nr == 1 || !layout_most(votes, nr, 5)))
		return false;
	bare = *format;
	if (!has_zone(format, found, nr))
		layout_time_drop_zone(&bare);
	if (!learn_fields(layout, &bare, found, nr, f))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (!found[i].is_known && found[i].bytes) {
			note_fraction(&f->time, &found[i]);
			break;
		}
	if (l->nr && (f->ops[f->time_op].step == STEP_SEEK_TIME || f->time_op > 4))
		return false;
	return mark_known(layout, f, found, nr) > 0;
}

static bool learned_learn(struct layout *layout, const struct layout_sample *sample)
{
	struct found *found = mem_zalloc(mem_bytes(sample->nr + 1, sizeof(*found)));
	struct learned *l = arena_new(&layout->arena, struct learned);
	size_t nr_strong = 0;

	for (size_t i = 0; i < sample->nr; i++) {
		found[i].line = sample->lines[i];
		find_time(layout->times, &found[i], false);
		nr_strong += found[i].bytes > 0;
	}
	if (!layout_most(nr_strong, sample->nr, 20))
		for (size_t i = 0; i < sample->nr; i++)
			if (!found[i].bytes)
				find_time(layout->times, &found[i], true);
	while (l->nr < VARIANTS_MAX && sample->nr && learn_variant(layout, l, found, sample->nr)) {
		if (l->nr)
			buf_add(&layout->pattern, STR(" | "));
		layout_fields_text(&l->variants[l->nr++], &layout->pattern);
	}
	free(found);
	layout->own = l;
	return l->nr > 0;
}

static int learned_parse(const struct layout *layout, struct layout_worker *worker, struct str line,
			 struct arena *arena, struct event *ev, struct losses *losses)
{
	const struct learned *l = layout->own;

	for (size_t i = 0; i < l->nr; i++)
		if (layout_fields_parse(&l->variants[i], layout, worker, line, arena, ev, losses,
					NULL) == 1)
			return 1;
	return 0;
}

/* java.util.logging writes time and class, then level and message in the next line. */
static void learned_more(const struct layout *layout, struct layout_worker *worker, struct str line,
			 struct arena *arena, struct event *ev, struct losses *losses)
{
	struct str word;

	(void)layout;
	(void)losses;
	if (ev->level != LEVEL_NONE || line.n < 5 || line.p[0] < 'A' || line.p[0] > 'Z' ||
	    !str_take_until(&line, ':', &word) || word.n < 4 || level_of(word) == LEVEL_NONE)
		return;
	ev->level = level_of(word);
	if (ev->key_kind == KEY_NONE)
		layout_event_finish(worker, ev, str_trim(line), arena);
}

const struct layout_kind layout_learned = {
	.name = "text",
	.learn = learned_learn,
	.parse = learned_parse,
	.more = learned_more,
};
