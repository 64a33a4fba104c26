/*
 * After Stitch (Zhao, Rodrigues, Luo, Yuan and Stumm, Non-intrusive performance profiling for
 * entire software stacks based on the flow reconstruction principle, OSDI 2016), section 4.1: the
 * set of constants that do not overlap and cover most of the line. M(i) is computed from the end of
 * the line instead of its front, which gives the same maximum. Of sets that cover as much, the one
 * of the fewest pieces is taken, and of those the one whose first pieces are longest.
 *
 * Where we differ: a constant that cuts a word is none. And a statement that formats the whole text
 * is believed before M(i), since a value may well be the constant of some other statement.
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
	uint32_t best; /* bytes of the best pattern */
	uint32_t nr_pieces;
	struct stretch pieces[PATTERN_PIECES_MAX];
};

static void try_patterns(struct asked *a, uint32_t text, uint32_t from)
{
	const struct constants *c = a->c;

	for (uint32_t i = c->first_pattern[text]; i < c->first_pattern[text + 1]; i++) {
		struct stretch v[PATTERN_PIECES_MAX];
		uint32_t to = 0, bytes = 0, nr;

		if (++a->nr_fits > FITS_MAX)
			return;
		nr = pattern_fit(names_str(&c->patterns, c->by_anchor[i]), a->line, from, v, &to);
		for (uint32_t k = 0; k < nr; k++)
			bytes += v[k].to - v[k].from;
		if (!nr || bytes <= a->best)
			continue;
		a->best = bytes;
		a->nr_pieces = nr;
		memcpy(a->pieces, v, nr * sizeof(*v));
		a->out->pattern = (struct stretch){ v[0].from, to };
	}
}

static bool take_hit(void *ctx, uint32_t text, uint32_t from)
{
	struct asked *a = ctx;
	struct hit h = { from, from + (uint32_t)a->c->texts[text].n };

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

static bool lies_outside(const struct hit *h, const struct stretch *s)
{
	return h->to <= s->from || h->from >= s->to;
}

/*
 * best[i] is M of the line from i on: covered bytes, less a little for each piece. Hits that
 * touch the stretch that is not asked about do not count.
 */
static void fill_best(struct cover *out, uint32_t n, const struct stretch * not)
{
	size_t h = out->hits.nr;

	vec_reserve(&out->best, (size_t)n + 1);
	out->best.v[n] = 0;
	for (uint32_t i = n; i-- > 0;) {
		uint64_t best = out->best.v[i + 1];

		for (; h && out->hits.v[h - 1].from == i; h--) {
			const struct hit *hit = &out->hits.v[h - 1];
			uint64_t with = out->best.v[hit->to] +
					((uint64_t)(hit->to - i) << PIECE_COST_BITS) - 1;

			if (with > best && lies_outside(hit, not))
				best = with;
		}
		out->best.v[i] = best;
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

/* Walks along the best choices; the pieces of the pattern come when their place does. */
static void walk_best(struct cover *out, uint32_t n, const struct asked *a,
		      const struct stretch * not)
{
	size_t h = 0;
	uint32_t i = 0;

	while (i < n) {
		bool is_taken = false;

		if (out->is_pattern && i == not->from) {
			for (uint32_t k = 0; k < a->nr_pieces; k++)
				push_stretch(out, a->pieces[k]);
			i = not->to;
			continue;
		}
		while (h < out->hits.nr && out->hits.v[h].from < i)
			h++;
		for (; h < out->hits.nr && out->hits.v[h].from == i && !is_taken; h++) {
			const struct hit *hit = &out->hits.v[h];
			uint64_t with = out->best.v[hit->to] +
					((uint64_t)(hit->to - i) << PIECE_COST_BITS) - 1;

			if (with != out->best.v[i] || !lies_outside(hit, not))
				continue;
			push_stretch(out, (struct stretch){ i, hit->to });
			i = hit->to;
			is_taken = true;
		}
		i += !is_taken;
	}
}

static uint32_t bytes_of(uint64_t best)
{
	return (uint32_t)((best + (1U << PIECE_COST_BITS) - 1) >> PIECE_COST_BITS);
}

/* Bytes that M covers within the stretch of the pattern. */
static uint32_t covered_within(struct cover *out, uint32_t n, const struct stretch *s)
{
	const struct stretch none = { 0 };

	fill_best(out, n, &none);
	return bytes_of(out->best.v[s->from]) - bytes_of(out->best.v[s->to]);
}

void constants_cover(const struct constants *c, struct str line, struct cover *out)
{
	struct asked a = { .c = c, .line = str_head(line, LINE_MAX), .out = out };
	struct stretch not = { 0 };
	uint32_t n = (uint32_t)a.line.n;

	vec_clear(&out->constant);
	vec_clear(&out->hits);
	out->nr_bytes = 0;
	out->pattern = (struct stretch){ 0 };
	automaton_find(&c->automaton, a.line, take_hit, &a);
	if (out->hits.nr)
		qsort(out->hits.v, out->hits.nr, sizeof(*out->hits.v), by_place);
	/* a pattern that leaves most of the constant text to its values is another statement's */
	out->is_pattern = a.nr_pieces && 2 * a.best > covered_within(out, n, &out->pattern);
	if (out->is_pattern)
		not = out->pattern;
	else
		out->pattern = (struct stretch){ 0 };
	fill_best(out, n, &not);
	walk_best(out, n, &a, &not);
}

void cover_done(struct cover *v)
{
	vec_done(&v->constant);
	vec_done(&v->hits);
	vec_done(&v->best);
}
