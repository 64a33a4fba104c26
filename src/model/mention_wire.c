#include "model/mention_wire.h"

#include <errno.h>
#include <inttypes.h>

#include "base/arena.h"
#include "base/time.h"
#include "model/mention_pack.h"

/* 32473 is the enterprise number that RFC 5612 sets aside for those who have none. */
#define OPENING "[culprit@32473 "

static uint64_t sum_of(const struct wire_head *h, struct str body)
{
	uint64_t sum = str_hash(body);

	sum = 31 * sum + str_hash(h->agent);
	sum = 31 * sum + str_hash(h->boot);
	sum = 31 * sum + str_hash(h->host);
	return 31 * (31 * sum + h->seq) + (uint64_t)h->epoch_ns;
}

static void put_host(struct buf *b, struct str host)
{
	size_t before = b->n;

	for (size_t i = 0; i < host.n && i < 255; i++)
		if (host.p[i] > ' ' && host.p[i] < 0x7f)
			buf_char(b, host.p[i]);
	if (b->n == before)
		buf_char(b, '-');
}

/* In structured data, '"', '\' and ']' would need a backslash: none of them is left. */
static void put_value(struct buf *b, const char *name, struct str value)
{
	buf_fmt(b, "%s=\"", name);
	for (size_t i = 0; i < value.n; i++) {
		char c = value.p[i];

		if (c == '"' || c == '\\' || c == ']')
			buf_fmt(b, "%%%02x", (unsigned char)c);
		else
			mention_escape(b, (struct str){ &c, 1 });
	}
	buf_add(b, STR("\" "));
}

void wire_write(struct buf *b, const struct wire_head *h, struct str body)
{
	struct civil c;

	time_to_civil(h->epoch_ns, &c);
	buf_fmt(b, "<134>1 %04d-%02d-%02dT%02d:%02d:%02d.%06dZ ", c.year, c.month, c.day, c.hour,
		c.min, c.sec, (int)(c.ns / 1000));
	put_host(b, h->host);
	buf_fmt(b, " culprit %" PRIu32 " mentions " OPENING, h->pid);
	put_value(b, "agent", h->agent);
	put_value(b, "boot", h->boot);
	put_value(b, "host", h->host);
	buf_fmt(b, "seq=\"%" PRIu64 "\" epoch=\"%" PRId64 "\" n=\"%zu\" sum=\"%" PRIx64 "\"] ",
		h->seq, h->epoch_ns, body.n, sum_of(h, body));
	buf_add(b, body);
}

static bool take_value(struct str *s, const char *name, struct str *value)
{
	return str_take(s, str_of(name)) && str_take(s, STR("=\"")) &&
	       str_take_until(s, '"', value) && (str_take_char(s, ' ') || s->n);
}

static bool take_text(struct str *s, const char *name, struct arena *arena, struct str *text)
{
	struct str value;

	return take_value(s, name, &value) && mention_unescape(arena, value, text);
}

static bool take_uint(struct str *s, const char *name, uint64_t *v)
{
	struct str value;

	return take_value(s, name, &value) && str_take_uint(&value, v) && !value.n;
}

static bool take_head(struct str *s, struct arena *arena, struct wire_head *h, uint64_t *n,
		      uint64_t *sum)
{
	struct str epoch, hex;

	if (!take_text(s, "agent", arena, &h->agent) || !take_text(s, "boot", arena, &h->boot) ||
	    !take_text(s, "host", arena, &h->host) || !take_uint(s, "seq", &h->seq) ||
	    !take_value(s, "epoch", &epoch) || !str_take_int(&epoch, &h->epoch_ns) || epoch.n ||
	    !take_uint(s, "n", n) || !take_value(s, "sum", &hex) || !str_take_hex(&hex, sum))
		return false;
	return !hex.n && str_take(s, STR("] ")) && h->agent.n && h->agent.n <= WIRE_NAME_MAX &&
	       h->boot.n <= WIRE_NAME_MAX && h->host.n <= 255 && h->seq;
}

int wire_read(struct str line, struct arena *arena, struct wire_head *h, struct str *body)
{
	struct str s = str_head(line, WIRE_BYTES_MAX);
	size_t at = str_find(s, STR(OPENING));
	struct wire_head got = { 0 };
	uint64_t n, sum;

	if (at == s.n)
		return 0;
	s = str_skip(s, at + sizeof(OPENING) - 1);
	if (line.n > WIRE_BYTES_MAX || !take_head(&s, arena, &got, &n, &sum) || s.n < n)
		return -EBADMSG;
	/* what a transport put behind it (a line end) is not of the body */
	s = str_head(s, n);
	if (sum_of(&got, s) != sum)
		return -EBADMSG;
	*h = got;
	*body = s;
	return 1;
}
