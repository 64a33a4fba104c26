#include "infer/requests/chain.h"

#include "infer/requests/course.h"
#include "infer/requests/tie.h"
#include "infer/requests/window.h"

/* An even number of chains of about the same length, so that two cores end at about the same time.
 */
size_t chain_nr(const struct harvest *h, bool has_families)
{
	size_t nr = h->bounds.nr;

	if (nr < 2 * CHAIN_WINDOWS || has_families)
		return 1;
	return 2 * ((nr + 2 * CHAIN_WINDOWS - 1) / (2 * CHAIN_WINDOWS));
}

size_t chain_first(const struct harvest *h, size_t nr, size_t nr_chains)
{
	return nr * h->bounds.nr / nr_chains;
}

/* Where the chain begins: requests from then on are its own. */
static int64_t begin_of(const struct harvest *h, size_t first)
{
	return first ? h->bounds.v[first - 1] : INT64_MIN;
}

int64_t chain_from(const struct harvest *h, size_t first)
{
	return first ? begin_of(h, first) - TIES_WINDOW_NS : INT64_MIN;
}

int64_t chain_until(const struct harvest *h, size_t end)
{
	int64_t last = h->bounds.v[end - 1];

	return last == INT64_MAX ? last : last + TIES_WINDOW_NS;
}

void chain_begin(struct chain *c, struct harvest *h, size_t first, size_t end,
		 const struct matcher *m)
{
	*c = (struct chain){ .h = h, .first = first, .end = end, .at = first };
	harvest_cursor(h, &c->cursor, chain_from(h, first));
	c->course = course_new(m);
}

void chain_done(struct chain *c)
{
	harvest_cursor_done(&c->cursor);
	gather_done(&c->left);
	course_free(c->course);
	*c = (struct chain){ 0 };
}

int chain_window(struct chain *c, const struct outlet *out, struct error *err)
{
	size_t nr = c->at++;
	struct window n = { begin_of(c->h, c->first), c->h->bounds.v[nr], INT64_MAX, false };
	int got = harvest_upto(c->h, &c->cursor, &c->left, n.until, err);

	c->left.has_before = nr > 0;
	c->left.has_after = nr + 1 < c->h->bounds.nr;
	if (got >= 0)
		got = window_infer(&n, &c->left, c->course, out, err);
	c->has_families |= n.has_families;
	return got;
}

int chain_seam(struct chain *c, const struct outlet *out, struct error *err)
{
	int64_t end = c->h->bounds.v[c->end - 1];
	struct window n = { begin_of(c->h, c->first), INT64_MAX, end, false };
	int got;

	if (end == INT64_MAX)
		return 0;
	got = harvest_upto(c->h, &c->cursor, &c->left, chain_until(c->h, c->end), err);
	c->left.has_before = c->left.has_after = true;
	return got < 0 ? got : window_infer(&n, &c->left, c->course, out, err);
}
