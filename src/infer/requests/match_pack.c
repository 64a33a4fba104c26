/*
 *	version + 1 | sureness (a byte) | number of others | their points | thread |
 *	number of values | part, length, bytes | …
 *
 * Numbers are varints. The values of the thread's name follow those of the message.
 */
#include "infer/requests/match_pack.h"

#include "base/arena.h"
#include "base/buf.h"
#include "infer/requests/match_build.h"
#include "model/event.h"

enum { VARINT_MAX = 10, HEAD_MAX = (6 + MATCH_ALSO) * VARINT_MAX };

/* Leaves the others out. */
static size_t keep_names(struct match *m)
{
	size_t bytes = 0;
	unsigned nr = 0;

	for (unsigned i = 0; i < m->nr; i++) {
		if (!m->values[i].can_name || !m->values[i].text.n)
			continue;
		if (nr != i)
			m->values[nr] = m->values[i];
		bytes += 2 * VARINT_MAX + m->values[nr++].text.n;
	}
	m->nr = nr;
	return bytes;
}

static char *put_varint(char *at, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*at++ = (char)(v | 0x80);
	*at++ = (char)v;
	return at;
}

static char *put_values(char *at, const struct match *m)
{
	for (unsigned i = 0; i < m->nr; i++) {
		struct str text = m->values[i].text;

		at = put_varint(at, m->values[i].part);
		at = put_varint(at, text.n);
		memcpy(at, text.p, text.n);
		at += text.n;
	}
	return at;
}

void match_event(const void *matcher, struct event *ev, struct str message, struct arena *arena)
{
	const struct matcher *m = matcher;
	struct match line, thread;
	uint32_t named = 0;
	size_t bytes = HEAD_MAX;
	char *begin, *at;

	line.nr = line.nr_also = thread.nr = 0;
	line.version = MODEL_NO;
	line.sure = 0;
	if (matcher_find(m, ev->point, ev->level, message, &line)) {
		ev->statement = matcher_number(m, line.model, line.point);
		bytes += keep_names(&line);
	}
	if (matcher_thread(m, ev->thread, &thread)) {
		named = matcher_thread_number(m, thread.model, thread.point);
		bytes += keep_names(&thread);
	}
	if (!ev->statement && !named)
		return;
	at = begin = arena_alloc(arena, bytes);
	at = put_varint(at, line.version + 1U);
	*at++ = (char)(unsigned char)(line.sure * 255 + 0.5F);
	at = put_varint(at, line.nr_also);
	for (unsigned i = 0; i < line.nr_also; i++)
		at = put_varint(at, matcher_number(m, line.model, line.also[i]));
	at = put_varint(at, named);
	at = put_varint(at, line.nr);
	at = put_values(put_values(at, &line), &thread);
	ev->values = (struct str){ begin, (size_t)(at - begin) };
}

static bool take_also(struct str *values, struct match_packed *p)
{
	uint64_t nr, also;

	if (!str_take_varint(values, &nr) || nr > MATCH_ALSO)
		return false;
	p->nr_also = (unsigned)nr;
	for (unsigned i = 0; i < p->nr_also; i++) {
		if (!str_take_varint(values, &also))
			return false;
		p->also[i] = (uint32_t)also;
	}
	return true;
}

bool match_unpack(struct match_packed *p, struct str values)
{
	uint64_t version, thread, nr;
	unsigned char sure;

	if (!str_take_varint(&values, &version) || !values.n)
		return false;
	sure = (unsigned char)values.p[0];
	values = str_skip(values, 1);
	if (!take_also(&values, p) || !str_take_varint(&values, &thread) ||
	    !str_take_varint(&values, &nr))
		return false;
	p->version = (uint32_t)version - 1;
	p->sure = (float)sure / 255;
	p->thread = (uint32_t)thread;
	p->rest = values;
	p->left = (uint32_t)nr;
	p->is_thread = false;
	return true;
}

bool match_packed_next(struct match_packed *p, struct match_value *value)
{
	uint64_t part;

	if (!str_take_varint(&p->rest, &part) || !str_take_bytes(&p->rest, &value->text))
		return false;
	value->part = (uint32_t)part;
	value->can_name = true;
	p->is_thread = !p->left;
	p->left -= p->left > 0;
	return true;
}
