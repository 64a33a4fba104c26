#include "source/otlp_wire.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "source/input.h"

#define READ_BYTES ((size_t)1 << 20)
#define PREFIX_BYTES_MAX 16 /* of a tag and a length */

static bool take_fixed(struct str *s, size_t n, uint64_t *value)
{
	uint64_t v = 0;

	if (s->n < n)
		return false;
	for (size_t i = n; i > 0; i--)
		v = v << 8 | (unsigned char)s->p[i - 1];
	*value = v;
	*s = str_skip(*s, n);
	return true;
}

static bool take_value(struct str *s, struct wire_field *f)
{
	uint64_t n;

	switch (f->type) {
	case WIRE_VARINT:
		return str_take_varint(s, &f->value);
	case WIRE_FIXED64:
		return take_fixed(s, 8, &f->value);
	case WIRE_FIXED32:
		return take_fixed(s, 4, &f->value);
	case WIRE_BYTES:
		if (!str_take_varint(s, &n))
			return false;
		f->is_cut = n > s->n;
		f->bytes = str_head(*s, f->is_cut ? s->n : (size_t)n);
		*s = str_skip(*s, f->bytes.n);
		return true;
	default:
		return false;
	}
}

bool otlp_wire_take(struct str *s, struct wire_field *f)
{
	struct str rest = *s;
	uint64_t tag;

	*f = (struct wire_field){ 0 };
	if (!str_take_varint(&rest, &tag) || tag >> 3 == 0 || tag >> 3 > UINT32_MAX)
		return false;
	f->number = (uint32_t)(tag >> 3);
	f->type = (enum wire_type)(tag & 7);
	if (!take_value(&rest, f))
		return false;
	*s = rest;
	return true;
}

double otlp_wire_double(const struct wire_field *f)
{
	double d;

	memcpy(&d, &f->value, sizeof(d));
	return d;
}

/* --- which framing --------------------------------------------------------------------------- */

/*
 * A message of OTLP begins with field 1, whose bytes begin with a resource (field 1) or a scope
 * (field 2), whose bytes begin with a field again: three lengths, each fitting into the one around.
 */
static bool probe(struct str s, unsigned depth)
{
	struct wire_field f;

	if (!s.n)
		return depth > 1;
	if (!otlp_wire_take(&s, &f) || f.type != WIRE_BYTES)
		return depth > 2 && f.type != WIRE_BYTES && f.number;
	if (f.number != 1 && (depth == 0 || f.number != 2))
		return depth > 2;
	return depth == 3 || probe(f.bytes, depth + 1);
}

static bool is_message(struct str s, uint64_t length)
{
	struct wire_field f;
	struct str rest = s;

	return otlp_wire_take(&rest, &f) && f.number == 1 && f.type == WIRE_BYTES &&
	       f.bytes.n > 1 && (f.is_cut || length >= s.n - rest.n) && probe(s, 0);
}

static bool take_prefix4(struct str *s, uint64_t *n)
{
	if (s->n < 4)
		return false;
	*n = 0;
	for (size_t i = 0; i < 4; i++)
		*n = *n << 8 | (unsigned char)s->p[i];
	*s = str_skip(*s, 4);
	return true;
}

enum wire_framing otlp_wire_framing(struct str head)
{
	struct str rest = head;
	uint64_t n;

	if (take_prefix4(&rest, &n) && n && n <= OTLP_WIRE_BYTES_MAX &&
	    is_message(str_head(rest, n), n))
		return WIRE_PREFIXED4;
	if (is_message(head, UINT64_MAX))
		return WIRE_ONE;
	rest = head;
	if (str_take_varint(&rest, &n) && n && n <= OTLP_WIRE_BYTES_MAX &&
	    is_message(str_head(rest, n), n))
		return WIRE_PREFIXED;
	return WIRE_NONE;
}

/* --- messages off an input ------------------------------------------------------------------- */

void otlp_feed_done(struct otlp_feed *f)
{
	free(f->p);
	f->p = NULL;
}

/* Has n bytes from the cursor on in the window, or all that are left. */
static int need(struct otlp_feed *f, size_t n, struct error *err)
{
	ssize_t got;

	if (f->n - f->at >= n || f->ended)
		return 0;
	if (f->at)
		memmove(f->p, f->p + f->at, f->n - f->at);
	f->n -= f->at;
	f->at = 0;
	if (n < READ_BYTES)
		n = READ_BYTES;
	if (f->room < n) {
		f->room = n;
		f->p = mem_realloc(f->p, n);
	}
	while (!f->ended && f->n < n) {
		got = input_read(f->in, f->p + f->n, n - f->n, err);
		if (got < 0 && got != -EBADMSG)
			return (int)got;
		/* A damaged end of a compressed file is an end. */
		f->is_cut |= got < 0;
		f->ended = got <= 0;
		f->n += got > 0 ? (size_t)got : 0;
	}
	return 0;
}

/* The bytes of the next message and of what stands in front of it: false when there is no length.
 */
static bool measure(const struct otlp_feed *f, struct str s, uint64_t *skip, uint64_t *bytes)
{
	struct str rest = s;
	struct wire_field field;
	uint64_t n;
	bool ok =
		f->framing == WIRE_PREFIXED4 ? take_prefix4(&rest, &n) : str_take_varint(&rest, &n);

	if (!ok)
		return false;
	if (f->framing != WIRE_ONE) {
		*skip = s.n - rest.n;
		*bytes = n;
		return true;
	}
	/* One field of the only message, its tag included. */
	*skip = 0;
	if ((n & 7) != WIRE_BYTES) {
		rest = s;
		*bytes = otlp_wire_take(&rest, &field) ? s.n - rest.n : 0;
		return *bytes;
	}
	if (!str_take_varint(&rest, &n))
		return false;
	*bytes = n + (s.n - rest.n);
	return *bytes >= n;
}

int otlp_feed_next(struct otlp_feed *f, struct str *message, struct error *err)
{
	uint64_t skip, bytes;
	int r = need(f, PREFIX_BYTES_MAX, err);

	if (r < 0)
		return r;
	if (f->at == f->n)
		return 0;
	if (!measure(f, str_head((struct str){ f->p + f->at, f->n - f->at }, PREFIX_BYTES_MAX),
		     &skip, &bytes)) {
		f->is_cut = true;
		f->at = f->n;
		f->ended = true;
		return 0;
	}
	if (bytes > OTLP_WIRE_BYTES_MAX)
		return error_set(
			err, EFBIG,
			"'%s' holds a protobuf message of more than %zu MiB, or is damaged; "
			"export in smaller batches",
			input_path(f->in), OTLP_WIRE_BYTES_MAX >> 20);
	r = need(f, (size_t)(skip + bytes), err);
	if (r < 0)
		return r;
	f->at += (size_t)skip;
	f->is_cut |= bytes > f->n - f->at;
	*message = str_head((struct str){ f->p + f->at, f->n - f->at }, (size_t)bytes);
	f->at += message->n;
	return 1;
}
