#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "store/body.h"
#include "store/code.h"
#include "store/db.h"
#include "store/rows.h"
#include "store/run.h"

/* Single things by name or number: a request, a type, the request of an event. */

static int unfinished(const struct store *s, struct error *err)
{
	return s->writing ? error_set(err, EINVAL, "the run is not finished yet") : 0;
}

static int ordinal_of(struct store *s, uint64_t id, uint64_t *ordinal, struct error *err)
{
	struct rows c = { 0 };
	struct request r;
	int result = rows_seek(s, &c, id, err);

	if (!result && rows_next(s, &c, &r, ordinal, err) <= 0)
		result = db_damaged(s->db, "a request is missing", err);
	rows_done(&c);
	return result;
}

int store_request(struct store *s, uint64_t id, struct arena *arena, struct request *r,
		  struct request_body *body, struct error *err)
{
	struct request got = { .id = id };
	struct request_body got_body;
	struct bodies c = { 0 };
	uint64_t ordinal;
	struct str record;
	int result = unfinished(s, err);

	if (result || !id || id > s->catalog.totals.nr_requests)
		return result;
	result = ordinal_of(s, id, &ordinal, err);
	if (!result)
		result = bodies_at(s, &c, ordinal, &record, err);
	if (!result) {
		record = arena_str(arena, record);
		if (!code_take_request(&record, &s->syms, &got) ||
		    !body_take(&record, &s->syms, &got, arena, &got_body))
			result = db_damaged(s->db, "the body of a request cannot be read", err);
	}
	bodies_done(&c);
	if (result)
		return result;
	*r = got;
	*body = got_body;
	return 1;
}

/* No index: a look at a million keys takes a tenth of a second, an index would cost every run. */
int store_request_by_key(struct store *s, struct str key, uint64_t *id, struct error *err)
{
	struct rows c = { .next = 1 };
	struct request r = { 0 };
	uint64_t ordinal;
	int result = unfinished(s, err);

	while (!result && (result = rows_next(s, &c, &r, &ordinal, err)) > 0) {
		if (str_eq(r.key, key))
			break;
		result = 0;
	}
	rows_done(&c);
	if (result > 0)
		*id = r.id;
	return result;
}

/* --- types ----------------------------------------------------------------------------------- */

int store_each_type(struct store *s, int (*each)(void *ctx, struct str type, uint64_t nr),
		    void *ctx, struct error *err)
{
	const struct catalog_type *v = s->catalog.types.v;
	size_t nr = s->catalog.types.nr;
	int r = unfinished(s, err);

	if (!r)
		r = narrow_sum(s, err);
	if (s->narrow.is_on) {
		v = s->narrow.types.v;
		nr = s->narrow.types.nr;
	}
	for (size_t i = 0; i < nr && !r; i++)
		r = each(ctx, v[i].name, v[i].nr);
	return r;
}

struct str store_type(const struct store *s, uint32_t type)
{
	return type < s->catalog.types.nr ? s->catalog.types.v[type].name : STR("");
}

uint32_t store_nr_types(const struct store *s)
{
	return (uint32_t)s->catalog.types.nr;
}

static bool contains_nocase(struct str s, struct str part)
{
	for (; s.n >= part.n; s = str_skip(s, 1)) {
		if (str_eq_nocase(str_head(s, part.n), part))
			return true;
		if (!s.n)
			break;
	}
	return false;
}

/* Types and nodes are found by the same rules. */
struct listed {
	struct store *s;
	const char *what;
	size_t nr;
	struct str (*at)(const struct store *s, size_t i);
};

static int not_one(const struct listed *l, struct str part, size_t nr, struct error *err)
{
	struct buf names = { 0 };
	size_t listed = 0, rest;

	for (size_t i = 0; i < l->nr; i++) {
		struct str name = l->at(l->s, i);

		if (nr && !contains_nocase(name, part))
			continue;
		if (listed++ < 5)
			buf_fmt(&names, "%s'" STR_FMT "'", listed > 1 ? ", " : "",
				STR_ARG(str_head(name, 60)));
	}
	rest = listed > 5 ? listed - 5 : 0;
	if (rest)
		buf_fmt(&names, " and %zu more", rest);
	if (!listed)
		error_set(err, ENOENT, "no requests of %s '" STR_FMT "': there are none at all",
			  l->what, STR_ARG(str_head(part, 100)));
	else
		error_set(err, ENOENT, "%s %ss match '" STR_FMT "': there %s " STR_FMT,
			  nr ? "several" : "no", l->what, STR_ARG(str_head(part, 100)),
			  listed > 1 ? "are" : "is", STR_ARG(buf_str(&names)));
	buf_done(&names);
	return 0;
}

static int find_one(const struct listed *l, struct str part, struct str *found, struct error *err)
{
	struct str nocase = { 0 }, inside = { 0 };
	size_t nr_nocase = 0, nr_inside = 0;

	for (size_t i = 0; i < l->nr; i++) {
		struct str name = l->at(l->s, i);

		if (str_eq(name, part)) {
			*found = name;
			return 1;
		}
		if (str_eq_nocase(name, part)) {
			nocase = name;
			nr_nocase++;
		}
		if (contains_nocase(name, part)) {
			inside = name;
			nr_inside++;
		}
	}
	if (nr_nocase != 1 && nr_inside != 1)
		return not_one(l, part, nr_inside, err);
	*found = nr_nocase == 1 ? nocase : inside;
	return 1;
}

static struct str type_at(const struct store *s, size_t i)
{
	return s->catalog.types.v[i].name;
}

int store_find_type(struct store *s, struct str part, struct str *type, struct error *err)
{
	struct listed types = { s, "type", s->catalog.types.nr, type_at };

	return find_one(&types, part, type, err);
}

static struct str node_at(const struct store *s, size_t i)
{
	return s->brief_names.sets.nodes.v[i + 1];
}

/* Where not all nodes are known, a name is taken as it is. */
int store_find_node(struct store *s, struct str part, struct str *node, struct error *err)
{
	struct listed nodes = { s, "node", 0, node_at };
	int r = unfinished(s, err);

	if (!r)
		r = brief_names_read(s, err);
	if (r < 0)
		return r;
	if (!r) {
		*node = part;
		return 1;
	}
	nodes.nr = s->brief_names.sets.nodes.nr ? s->brief_names.sets.nodes.nr - 1 : 0;
	return find_one(&nodes, part, node, err);
}

/* --- the requests of all events -------------------------------------------------------------- */

struct placing {
	uint64_t *requests, nr_events;
	VEC(uint64_t) numbers;
};

static int place_events(struct store *s, struct placing *p, uint64_t id, struct str record,
			struct error *err)
{
	struct request r = { 0 };

	if (!code_take_request(&record, &s->syms, &r) || r.nr_events > record.n)
		return db_damaged(s->db, "a request cannot be read", err);
	vec_reserve(&p->numbers, r.nr_events);
	if (!body_take_event_numbers(&record, &s->syms, &r, p->numbers.v))
		return db_damaged(s->db, "the events of a request cannot be read", err);
	for (uint32_t i = 0; i < r.nr_events; i++) {
		uint64_t number = p->numbers.v[i];

		/* an event in several requests shows the first of them, whatever the order here */
		if (number < p->nr_events && (!p->requests[number] || p->requests[number] > id))
			p->requests[number] = id;
	}
	return 0;
}

int store_event_requests(struct store *s, uint64_t **requests, uint64_t *nr_events,
			 struct error *err)
{
	struct placing p = { .nr_events = s->catalog.totals.nr_events };
	struct bodies c = { 0 };
	struct str record;
	uint64_t id;
	int r = unfinished(s, err);

	if (r)
		return r;
	p.requests = mem_zalloc(mem_bytes(p.nr_events + 1, sizeof(*p.requests)));
	while (!r && (r = bodies_next(s, &c, &id, &record, err)) > 0)
		r = narrow_has(&s->narrow, id) ? place_events(s, &p, id, record, err) : 0;
	bodies_done(&c);
	vec_done(&p.numbers);
	if (r) {
		free(p.requests);
		return r;
	}
	*requests = p.requests;
	*nr_events = p.nr_events;
	return 0;
}
