#include "model/parts.h"

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

bool parts_take(struct str *packed, struct part_of *p)
{
	struct str s = *packed;
	struct part_of got = { 0 };
	uint64_t parent, ns, calls, site;

	if (!take_number(&s, UINT32_MAX, &parent) || !str_take_bytes(&s, &got.name) ||
	    !take_number(&s, INT64_MAX, &ns) || !take_number(&s, UINT32_MAX, &calls) ||
	    !take_number(&s, UINT32_MAX, &site) || !take_waits(&s, got.wait_ns))
		return false;
	got.parent = (uint32_t)parent - 1u;
	got.ns = (int64_t)ns;
	got.nr_calls = (uint32_t)calls;
	got.site = (uint32_t)site;
	*p = got;
	*packed = s;
	return true;
}
