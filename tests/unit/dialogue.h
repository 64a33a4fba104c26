/* Lets two ends talk byte by byte, and writes down what is told of it. */
#ifndef CULPRIT_TESTS_DIALOGUE_H
#define CULPRIT_TESTS_DIALOGUE_H

#include <stdio.h>

#include "base/buf.h"
#include "model/loss.h"
#include "source/proto.h"
#include "source/proto_talk.h"

#define S(text) ((struct str){ text, sizeof(text) - 1 })

/* What was told, a line each: "> GET /" for a call, "< 200" for a return, "~ x" for what was sent;
 * a return has the number of its call in front. */
struct told {
	struct buf text;
	uint64_t uids[64];
	unsigned nr;
	struct losses losses;
	struct talk_sink sink;
	struct talk *talk;
	uint32_t seq[2];
	int64_t ns;
	const char *protocol;
	char key[128];
};

static inline unsigned number_of(struct told *t, uint64_t uid)
{
	unsigned i = 0;

	while (i < t->nr && t->uids[i] != uid)
		i++;
	return i < t->nr ? i + 1 : 0;
}

static inline void take(void *to, const struct talk *talk, const struct message *m)
{
	struct told *t = to;

	t->protocol = talk_protocol(talk);
	snprintf(t->key, sizeof(t->key), STR_FMT, STR_ARG(trace_key(&m->trace)));
	if (m->op == MESSAGE_RETURN) {
		buf_fmt(&t->text, "<%u", number_of(t, m->uid));
		if (m->has_status)
			buf_fmt(&t->text, " %d", (int)m->status);
	} else {
		if (m->op == MESSAGE_CALL)
			t->uids[t->nr++ % 64] = m->uid;
		buf_fmt(&t->text, m->op == MESSAGE_CALL ? ">" STR_FMT : "~" STR_FMT,
			STR_ARG(m->title));
	}
	buf_add(&t->text, m->is_error ? STR("!|") : STR("|"));
}

static inline void begin(struct told *t, uint16_t port)
{
	struct endpoint end[2] = { { .port = 40000 }, { .port = port } };

	*t = (struct told){ .sink = { t, take, &t->losses, false } };
	t->talk = talk_new(&t->sink, end, 0, false);
}

static inline void say(struct told *t, unsigned side, struct str bytes)
{
	talk_bytes(t->talk, side, t->seq[side], bytes, ++t->ns);
	t->seq[side] += (uint32_t)bytes.n;
}

static inline void finish(struct told *t, const char *protocol, const char *want)
{
	talk_free(t->talk);
	assert_str_equal(buf_str(&t->text), want);
	assert_string_equal(t->protocol, protocol);
	assert_int_equal(t->losses.count[LOSS_PROTOCOL_LOST], 0);
	buf_done(&t->text);
}

/* A dialogue that must read the same however the bytes are cut into packets. */
struct line {
	unsigned side;
	struct str bytes;
};

static inline void dialogue(const struct line *lines, size_t nr, const char *protocol,
			    const char *want)
{
	for (size_t step = 1; step < 4096; step = step < 8 ? step + 1 : step * 64) {
		struct told t;

		begin(&t, 7777);
		for (size_t i = 0; i < nr; i++)
			for (struct str s = lines[i].bytes; s.n; s = str_skip(s, step))
				say(&t, lines[i].side, str_head(s, step));
		finish(&t, protocol, want);
	}
}

#define DIALOGUE(lines, protocol, want) \
	dialogue(lines, sizeof(lines) / sizeof(*(lines)), protocol, want)

#endif
