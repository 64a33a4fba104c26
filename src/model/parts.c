#include "model/parts.h"

#include <math.h>
#include <string.h>

static void add_works(struct buf *packed, const struct part_of *p)
{
	uint32_t nr = p->nr_works < PART_WORKS ? p->nr_works : PART_WORKS;

	buf_varint(packed, nr);
	for (uint32_t i = 0; i < nr; i++) {
		buf_bytes(packed, p->works[i].name);
		buf_add(packed, (struct str){ (const char *)&p->works[i].amount, sizeof(double) });
	}
}

void parts_add(struct buf *packed, const struct part_of *p)
{
	unsigned waits = 0;

	for (int why = WAIT_CPU; why < NR_WAITS; why++)
		waits |= (unsigned)(p->wait_ns[why] > 0) << why;
	buf_varint(packed, p->parent + 1u);
	buf_bytes(packed, p->name);
	buf_varint(packed, (uint64_t)(p->ns > 0 ? p->ns : 0));
	buf_varint(packed, p->nr_calls);
	buf_varint(packed, p->site);
	buf_varint(packed, waits);
	for (int why = WAIT_CPU; why < NR_WAITS; why++)
		if (waits >> why & 1)
			buf_varint(packed, (uint64_t)p->wait_ns[why]);
	add_works(packed, p);
}

static bool take_number(struct str *s, uint64_t most, uint64_t *n)
{
	return str_take_varint(s, n) && *n <= most;
}

static bool take_waits(struct str *s, int64_t *wait_ns)
{
	uint64_t waits, ns;

	if (!take_number(s, (1u << NR_WAITS) - 1, &waits))
		return false;
	for (int why = WAIT_CPU; why < NR_WAITS; why++) {
		if (!(waits >> why & 1))
			continue;
		if (!take_number(s, INT64_MAX, &ns))
			return false;
		wait_ns[why] = (int64_t)ns;
	}
	return true;
}

static bool take_works(struct str *s, struct part_of *p)
{
	uint64_t nr;

	if (!take_number(s, PART_WORKS, &nr))
		return false;
	for (uint64_t i = 0; i < nr; i++) {
		struct part_work *w = &p->works[i];

		if (!str_take_bytes(s, &w->name) || s->n < sizeof(double))
			return false;
		memcpy(&w->amount, s->p, sizeof(double));
		*s = str_skip(*s, sizeof(double));
		if (!isfinite(w->amount))
			return false;
	}
	p->nr_works = (uint32_t)nr;
	return true;
}

bool parts_take(struct str *packed, struct part_of *p)
{
	struct str s = *packed;
	struct part_of got = { 0 };
	uint64_t parent, ns, calls, site;

	if (!take_number(&s, UINT32_MAX, &parent) || !str_take_bytes(&s, &got.name) ||
	    !take_number(&s, INT64_MAX, &ns) || !take_number(&s, UINT32_MAX, &calls) ||
	    !take_number(&s, UINT32_MAX, &site) || !take_waits(&s, got.wait_ns) ||
	    !take_works(&s, &got))
		return false;
	got.parent = (uint32_t)parent - 1u;
	got.ns = (int64_t)ns;
	got.nr_calls = (uint32_t)calls;
	got.site = (uint32_t)site;
	*p = got;
	*packed = s;
	return true;
}
