#include "source/proto_trace.h"

#include <ctype.h>

#include "base/buf.h"
#include "source/trace_id.h"

#define NEAR 12 /* bytes that an encoding may put between a name and its value */

static void keep(struct trace *t, enum key_kind kind, struct str key, struct str span)
{
	if (!key.n || key.n > TRACE_KEY_MAX || kind < t->kind || trace_id_is_none(key))
		return;
	if (kind == t->kind && t->key_n)
		return;
	t->kind = kind;
	memcpy(t->key, key.p, key.n);
	t->key_n = (unsigned char)key.n;
	for (size_t i = 0; i < key.n && kind == KEY_TRACE; i++)
		t->key[i] = (char)tolower((unsigned char)t->key[i]);
	if (!span.n || span.n > TRACE_SPAN_MAX)
		return;
	memcpy(t->span, span.p, span.n);
	t->span_n = (unsigned char)span.n;
}

static bool take_hex_word(struct str *s, size_t min, size_t max, struct str *word)
{
	size_t n = 0;

	while (n < s->n && isxdigit((unsigned char)s->p[n]))
		n++;
	if (n < min || n > max)
		return false;
	*word = str_head(*s, n);
	*s = str_skip(*s, n);
	return true;
}

/* 00-<32 hex>-<16 hex>-<flags> */
static bool take_traceparent(struct trace *t, struct str v)
{
	struct str version, key, span;

	if (!take_hex_word(&v, 2, 2, &version) || !str_take_char(&v, '-') ||
	    !take_hex_word(&v, 32, 32, &key) || !str_take_char(&v, '-') ||
	    !take_hex_word(&v, 16, 16, &span))
		return false;
	keep(t, KEY_TRACE, key, span);
	return true;
}

/* <trace>-<span>-…, or <trace>:<span>:… */
static bool take_pair(struct trace *t, struct str v, char between)
{
	struct str key, span;

	if (!take_hex_word(&v, 1, 32, &key) || !str_take_char(&v, between) ||
	    !take_hex_word(&v, 1, 16, &span))
		return false;
	keep(t, KEY_TRACE, key, span);
	return true;
}

/* 1-<base64 trace>-<base64 segment>-<span>-… */
static bool take_sw8(struct trace *t, struct str v)
{
	struct str sample, key64, segment64;
	struct buf key = { 0 };
	bool good;

	good = str_take_until(&v, '-', &sample) && sample.n == 1 &&
	       str_take_until(&v, '-', &key64) && key64.n && key64.n < TRACE_KEY_MAX &&
	       str_take_until(&v, '-', &segment64) && segment64.n &&
	       trace_id_take_base64(&key, key64);
	for (size_t i = 0; good && i < key.n; i++)
		good = isgraph((unsigned char)key.p[i]);
	if (good)
		keep(t, KEY_TRACE, buf_str(&key), (struct str){ 0 });
	buf_done(&key);
	return good;
}

static struct str printable(struct str v)
{
	size_t n = 0;

	v = str_trim(v);
	while (n < v.n && isgraph((unsigned char)v.p[n]))
		n++;
	return str_head(v, n);
}

/* Most headers are of no interest: these begin with one of five letters and have these lengths. */
static bool may_be_trace(struct str name)
{
	static const uint32_t lengths = 1u << 2 | 1u << 3 | 1u << 10 | 1u << 11 | 1u << 12 |
					1u << 13 | 1u << 15 | 1u << 16 | 1u << 18;

	if (name.n > 18 || !(lengths >> name.n & 1))
		return false;
	switch (name.p[0] | 0x20) {
	case 't':
	case 'b':
	case 's':
	case 'u':
	case 'x':
		return true;
	default:
		return false;
	}
}

void trace_take_header(struct trace *t, struct str name, struct str value)
{
	static const struct {
		struct str name;
		enum key_kind kind;
	} plain[] = {
		{ { "x-b3-traceid", 12 }, KEY_TRACE },
		{ { "x-datadog-trace-id", 18 }, KEY_TRACE },
		{ { "x-trace-id", 10 }, KEY_TRACE },
		{ { "x-request-id", 12 }, KEY_REQUEST },
		{ { "x-correlation-id", 16 }, KEY_REQUEST },
		{ { "x-amzn-trace-id", 15 }, KEY_REQUEST },
	};

	if (!may_be_trace(name))
		return;
	value = str_trim(value);
	if (str_eq_nocase(name, STR("traceparent")))
		take_traceparent(t, value);
	else if (str_eq_nocase(name, STR("b3")))
		take_pair(t, value, '-');
	else if (str_eq_nocase(name, STR("uber-trace-id")))
		take_pair(t, value, ':');
	else if (str_eq_nocase(name, STR("sw8")))
		take_sw8(t, value);
	for (size_t i = 0; i < sizeof(plain) / sizeof(*plain); i++)
		if (str_eq_nocase(name, plain[i].name))
			keep(t, plain[i].kind, printable(value), (struct str){ 0 });
}

/* Behind its name, after a few bytes that an encoding needs, stands the value. */
static bool find_near(struct trace *t, struct str bytes, struct str name,
		      bool (*take)(struct trace *, struct str))
{
	for (size_t at; (at = str_find(bytes, name)) < bytes.n;) {
		bytes = str_skip(bytes, at + name.n);
		for (size_t i = 0; i < NEAR && i < bytes.n; i++)
			if (take(t, str_skip(bytes, i)))
				return true;
	}
	return false;
}

void trace_scan(struct trace *t, struct str bytes)
{
	if (!find_near(t, bytes, STR("traceparent"), take_traceparent))
		find_near(t, bytes, STR("sw8"), take_sw8);
}
