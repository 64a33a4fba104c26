/*
 * After Stitch (Zhao, Rodrigues, Luo, Yuan and Stumm, Non-intrusive performance profiling for
 * entire software stacks based on the flow reconstruction principle, OSDI 2016), section 4.1: the
 * set of constants that do not overlap and cover most of the line. M(i) is computed from the end of
 * the line instead of its front, which gives the same maximum. Of sets that cover as much, the one
 * of the fewest pieces is taken, and of those the one whose first pieces are longest.
 *
 * Where we differ: a constant that cuts a word is none. A statement that formats the whole text is
 * believed before M(i), since a value may well be the constant of some other statement. And a piece
 * that a value follows wherever the piece is used is not followed by another constant.
 *
 * Time: the bytes of the line, and the places where constants were found, of which HITS_MAX count.
 */
#include "ident/constants_made.h"

enum {
	LINE_MAX = 4096,
	HITS_MAX = 1 << 16,
	FITS_MAX = 4096, /* patterns tried on a line */
	PIECE_COST_BITS = 16,
};

struct asked {
	const struct constants *c;
	struct str line;
	struct cover *out;
	uint32_t nr_fits;
	uint32_t best_bytes; /* of pieces of the best pattern so far */
	struct str best_pattern;
	struct fit best, tried;
};

static void try_patterns(struct asked *a, uint32_t text, uint32_t from)
{
	const struct constants *c = a->c;

	for (uint32_t i = c->first_pattern[text]; i < c->first_pattern[text + 1]; i++) {
		struct str pattern = names_str(&c->patterns, c->by_anchor[i]);
		uint32_t bytes = 0;

		if (++a->nr_fits > FITS_MAX)
			return;
		if (!pattern_fit(pattern, a->line, from, &a->tried))
			continue;
		for (uint32_t k = 0; k < a->tried.nr; k++)
			bytes += a->tried.v[k].to - a->tried.v[k].from;
		/* of equals always the same, in whatever order programs were read */
		if (bytes < a->best_bytes || (bytes == a->best_bytes && a->best_bytes &&
					      str_cmp(pattern, a->best_pattern) >= 0))
			continue;
		a->best_bytes = bytes;
		a->best_pattern = pattern;
		a->best = a->tried;
	}
}

static bool take_hit(void *ctx, uint32_t text, uint32_t from)
{
	struct asked *a = ctx;
	struct hit h = { from, from + (uint32_t)a->c->texts[text].n, a->c->text_next_to[text] };

	try_patterns(a, text, from);
	if (!pattern_may_cut(a->line, h.from) || !pattern_may_cut(a->line, h.to) ||
	    pattern_is_within_word(a->line, h.from, h.to))
		return true;
	vec_push(&a->out->hits, h);
	return a->out->hits.nr < HITS_MAX;
}

static int by_place(const void *x, const void *y)
{
	const struct hit *a = x, *b = y;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to > b->to ? -1 : a->to < b->to;
}

/*
 * Whether the constant has nothing to do with the pattern. In a value at the end of the pattern
 * only pieces that name what follows them count, as with fields that were put behind. Other
 * constants may be just what the value is.
 */
static bool lies_outside(const struct hit *h, const struct cover *out)
{
	if (!out->is_pattern || h->to <= out->pattern.from)
		return true;
	return h->from >= out->pattern.to && (!out->is_open || h->next_to & TEXT_NAMES_VALUE);
}

/* What stands in front of a place: something that varies, or a constant, which may or may not be
 * followed by a value. */
enum before { AFTER_VALUE, AFTER_TEXT, AFTER_OPEN_TEXT, NR_BEFORE };

/* Whether the constant may stand there. Where both sides ask for a value, it is empty. */
static bool may_follow(enum before before, const struct hit *h)
{
	if (before == AFTER_VALUE)
		return true;
	return (before == AFTER_OPEN_TEXT) == !!(h->next_to & TEXT_AFTER_VALUE);
}

static uint64_t *best_at(struct cover *out, uint32_t i, enum before before)
{
	return &out->best.v[(size_t)i * NR_BEFORE + before];
}

static enum before after(const struct hit *h)
{
	return h->next_to & TEXT_BEFORE_VALUE ? AFTER_OPEN_TEXT : AFTER_TEXT;
}

/* Bytes that are covered when the constant is taken, less a little for each piece. */
static uint64_t best_with(struct cover *out, const struct hit *h)
{
	return *best_at(out, h->to, after(h)) + ((uint64_t)(h->to - h->from) << PIECE_COST_BITS) -
	       1;
}

/* M of the line from each place on. */
static void fill_best(struct cover *out, uint32_t n)
{
	size_t h = out->hits.nr;

	vec_reserve(&out->best, ((size_t)n + 1) * NR_BEFORE);
	for (enum before b = 0; b < NR_BEFORE; b++)
		*best_at(out, n, b) = 0;
	for (uint32_t i = n; i-- > 0;) {
		for (enum before b = 0; b < NR_BEFORE; b++)
			*best_at(out, i, b) = *best_at(out, i + 1, AFTER_VALUE);
		for (; h && out->hits.v[h - 1].from == i; h--) {
			const struct hit *hit = &out->hits.v[h - 1];
			uint64_t with = best_with(out, hit);

			for (enum before b = 0; b < NR_BEFORE && lies_outside(hit, out); b++)
				if (may_follow(b, hit) && with > *best_at(out, i, b))
					*best_at(out, i, b) = with;
		}
	}
}

static void push_stretch(struct cover *out, struct stretch s)
{
	struct stretch *last = out->constant.nr ? &out->constant.v[out->constant.nr - 1] : NULL;

	out->nr_bytes += s.to - s.from;
	if (last && last->to == s.from)
		last->to = s.to;
	else
		vec_push(&out->constant, s);
}

/* The longest constant here by which the best is reached, NULL when that is by none. */
static const struct hit *best_hit(struct cover *out, size_t *h, uint32_t i, enum before before)
{
	const struct hit *hits = out->hits.v;

	while (*h < out->hits.nr && hits[*h].from < i)
		++*h;
	for (; *h < out->hits.nr && hits[*h].from == i; ++*h)
		if (may_follow(before, &hits[*h]) && lies_outside(&hits[*h], out) &&
		    best_with(out, &hits[*h]) == *best_at(out, i, before))
			return &hits[*h];
	return NULL;
}

/* Walks along the best choices; the pieces of the pattern come when their place does. */
static void walk_best(struct cover *out, uint32_t n, const struct fit *f)
{
	enum before before = AFTER_VALUE;
	uint32_t i = 0;
	size_t h = 0;

	while (i < n) {
		const struct hit *hit;

		if (out->is_pattern && i == out->pattern.from) {
			for (uint32_t k = 0; k < f->nr; k++)
				push_stretch(out, f->v[k]);
			i = out->pattern.to;
			before = out->is_open ? AFTER_OPEN_TEXT : AFTER_VALUE;
			continue;
		}
		hit = best_hit(out, &h, i, before);
		if (!hit) {
			i++;
			before = AFTER_VALUE;
			continue;
		}
		push_stretch(out, (struct stretch){ i, hit->to });
		before = after(hit);
		i = hit->to;
	}
}

/* Three words and more: what a statement says, and hardly ever what a value is. */
static bool is_phrase(struct str s)
{
	unsigned nr = 0;

	for (size_t i = 1; i + 1 < s.n; i++)
		nr += s.p[i] == ' ' && s.p[i - 1] != ' ' && s.p[i + 1] != ' ';
	return nr >= 2;
}

/* Whether the constant stands where the pattern has a value, if only in part. */
static bool is_in_value(const struct hit *h, const struct fit *f)
{
	if (h->to <= f->v[0].from || (h->from >= f->to && !f->is_open))
		return false;
	for (uint32_t k = 0; k < f->nr; k++)
		if (h->from >= f->v[k].from && h->to <= f->v[k].to)
			return false;
	return true;
}

/*
 * Whether the pattern that was found is the statement. One that says less than what stands in its
 * values is around another statement's text, or none of it.
 */
static bool is_statement(struct cover *out, uint32_t n, const struct asked *a)
{
	enum before before = AFTER_VALUE;
	uint32_t in_values = 0;
	size_t h = 0;

	if (!a->best_bytes)
		return false;
	out->is_pattern = false;
	fill_best(out, n);
	for (uint32_t i = 0; i < n;) {
		const struct hit *hit = best_hit(out, &h, i, before);

		if (hit && is_in_value(hit, &a->best) &&
		    is_phrase((struct str){ a->line.p + i, hit->to - i }))
			in_values += hit->to - i;
		before = hit ? after(hit) : AFTER_VALUE;
		i = hit ? hit->to : i + 1;
	}
	return a->best_bytes > in_values;
}

void constants_cover(const struct constants *c, struct str line, struct cover *out)
{
	struct asked a = { .c = c, .line = str_head(line, LINE_MAX), .out = out };
	uint32_t n = (uint32_t)a.line.n;

	vec_clear(&out->constant);
	vec_clear(&out->hits);
	out->nr_bytes = 0;
	automaton_find(&c->automaton, a.line, take_hit, &a);
	if (out->hits.nr)
		qsort(out->hits.v, out->hits.nr, sizeof(*out->hits.v), by_place);
	out->is_pattern = is_statement(out, n, &a);
	out->is_open = out->is_pattern && a.best.is_open;
	out->pattern = (struct stretch){ 0 };
	if (out->is_pattern)
		out->pattern = (struct stretch){ a.best.v[0].from, a.best.to };
	fill_best(out, n);
	walk_best(out, n, &a.best);
}

/* Only quotes, brackets and the like. */
static bool is_signs(struct str line, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		if (strchr("abcdefghijklmnopqrstuvwxyz0123456789", line.p[i] | 0x20) ||
		    (unsigned char)line.p[i] >= 0x80)
			return false;
	return true;
}

bool cover_is_value(const struct cover *v, struct str line, struct stretch s)
{
	struct stretch hole = { 0, (uint32_t)line.n };

	if (!v->is_pattern || s.from < v->pattern.from || s.to > line.n)
		return false;
	vec_each (&v->constant, c) {
		if (c->from < s.to && s.from < c->to)
			return false;
		if (c->to <= s.from)
			hole.from = c->to;
		else if (c->from >= s.to && c->from < hole.to)
			hole.to = c->from;
	}
	return is_signs(line, hole.from, s.from) && is_signs(line, s.to, hole.to);
}

void cover_done(struct cover *v)
{
	vec_done(&v->constant);
	vec_done(&v->hits);
	vec_done(&v->best);
}
