#include "base/jsonout.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

static void before_value(struct jsonout *j)
{
	uint64_t bit = 1ULL << (j->depth & 63);

	if (j->after_key) {
		j->after_key = false;
		return;
	}
	if (j->depth && (j->has_items & bit))
		buf_char(j->out, ',');
	j->has_items |= bit;
}

void jsonout_open(struct jsonout *j, char bracket)
{
	before_value(j);
	buf_char(j->out, bracket);
	j->depth++;
	j->has_items &= ~(1ULL << (j->depth & 63));
}

void jsonout_close(struct jsonout *j, char bracket)
{
	buf_char(j->out, bracket);
	j->depth--;
}

static void escaped(struct buf *out, unsigned char c)
{
	switch (c) {
	case '"':
		buf_add(out, STR("\\\""));
		break;
	case '\\':
		buf_add(out, STR("\\\\"));
		break;
	case '\n':
		buf_add(out, STR("\\n"));
		break;
	case '\r':
		buf_add(out, STR("\\r"));
		break;
	case '\t':
		buf_add(out, STR("\\t"));
		break;
	default:
		buf_fmt(out, "\\u%04x", c);
	}
}

static void quoted(struct buf *out, struct str s)
{
	buf_char(out, '"');
	while (s.n) {
		size_t plain = 0;

		while (plain < s.n && (unsigned char)s.p[plain] >= 0x20 &&
		       (unsigned char)s.p[plain] < 0x7f && s.p[plain] != '"' && s.p[plain] != '\\')
			plain++;
		buf_add(out, str_head(s, plain));
		s = str_skip(s, plain);
		if (!s.n)
			break;
		if ((unsigned char)s.p[0] < 0x80) {
			escaped(out, (unsigned char)s.p[0]);
			s = str_skip(s, 1);
			continue;
		}
		plain = utf8_length(s);
		buf_add(out, plain ? str_head(s, plain) : STR("\xef\xbf\xbd"));
		s = str_skip(s, plain ? plain : 1);
	}
	buf_char(out, '"');
}

void jsonout_key_str(struct jsonout *j, struct str key)
{
	before_value(j);
	quoted(j->out, key);
	buf_char(j->out, ':');
	j->after_key = true;
}

void jsonout_key(struct jsonout *j, const char *key)
{
	jsonout_key_str(j, str_of(key));
}

void jsonout_str(struct jsonout *j, struct str s)
{
	before_value(j);
	quoted(j->out, s);
}

void jsonout_int(struct jsonout *j, int64_t v)
{
	before_value(j);
	buf_fmt(j->out, "%lld", (long long)v);
}

void jsonout_uint(struct jsonout *j, uint64_t v)
{
	before_value(j);
	buf_fmt(j->out, "%llu", (unsigned long long)v);
}

void jsonout_double(struct jsonout *j, double v)
{
	char text[40];

	if (!isfinite(v)) {
		jsonout_null(j);
		return;
	}
	before_value(j);
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (strtod(text, NULL) == v)
			break;
	}
	buf_add(j->out, str_of(text));
}

void jsonout_bool(struct jsonout *j, bool v)
{
	before_value(j);
	buf_add(j->out, v ? STR("true") : STR("false"));
}

void jsonout_null(struct jsonout *j)
{
	before_value(j);
	buf_add(j->out, STR("null"));
}

void jsonout_raw(struct jsonout *j, struct str json)
{
	before_value(j);
	buf_add(j->out, json);
}
