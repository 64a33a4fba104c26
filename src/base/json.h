/* Reads JSON text through simdjson: a parser, values that borrow from it, and walks over them. */
#ifndef CULPRIT_BASE_JSON_H
#define CULPRIT_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

#ifdef __cplusplus
extern "C" {
#endif

struct error;
struct json;

enum json_type {
	JSON_NONE,
	JSON_NULL,
	JSON_BOOL,
	JSON_INT,
	JSON_UINT,
	JSON_DOUBLE,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT
};

/* Plain data, valid until the next json_parse on the same parser; zero is "no such value". */
struct json_value {
	const void *doc;
	uint64_t at;
};

struct json *json_new(void);
void json_free(struct json *j);
/*
 * Parses one whole document; -EBADMSG and a sentence with what is wrong otherwise. When readable
 * bytes follow text.n (at least json_padding() of them) pass padded = true and nothing is copied.
 */
int json_parse(struct json *j, struct str text, bool padded, struct json_value *root,
	       struct error *err);
size_t json_padding(void);

enum json_type json_type(struct json_value v);
/* Member of an object; zero value when v is no object or has none of that name. First of
 * duplicates. */
struct json_value json_get(struct json_value v, struct str key);
bool json_str(struct json_value v, struct str *s);
/* Also a whole number written as a double or as a string ("1544712660300000000"), as OTLP does. */
bool json_int(struct json_value v, int64_t *n);
bool json_uint(struct json_value v, uint64_t *n);
bool json_double(struct json_value v, double *d);
bool json_bool(struct json_value v, bool *b);

/* Walks over an array's items or an object's members: for (w = json_walk(v); json_next(&w);)
 * w.value … */
struct json_walk {
	const void *doc;
	uint64_t at, end;
	bool is_object;
	struct str key;
	struct json_value value;
};
struct json_walk json_walk(struct json_value v);
bool json_next(struct json_walk *w);
size_t json_count(struct json_value v);

#ifdef __cplusplus
}
#endif

#endif
