/*
 * Takes a JSON input of any size apart: hands out whole documents, or the items of a big array
 * inside them, in runs of bounded size.
 */
#ifndef CULPRIT_SOURCE_JSON_STREAM_H
#define CULPRIT_SOURCE_JSON_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct error;
struct input;
struct json_stream;

#define JSON_ITEM_BYTES_MAX ((size_t)256 << 20) /* of one value that cannot be taken apart */

/* Values in a row, separated by commas: put between '[' and ']' they are one document. */
struct json_run {
	struct str text; /* borrowed until the next call */
	bool is_cut;     /* one value whose end is missing: see json_scan_mend */
};

struct json_stream_how {
	const char *const *members; /* arrays with these names in an object at the top are taken
				       apart; ends with NULL */
	size_t run_bytes;           /* a run ends with the first item that passes this */
};

struct json_stream *json_stream_new(struct input *in, const struct json_stream_how *how);
void json_stream_free(struct json_stream *s);

/*
 * 1 a run, 0 the end, negative failure: the input cannot be read, or one value is larger than
 * JSON_ITEM_BYTES_MAX.
 */
int json_stream_next(struct json_stream *s, struct json_run *run, struct error *err);

/* Known when the end was reached. */
bool json_stream_is_cut(const struct json_stream *s);        /* it ended inside a document … */
bool json_stream_is_open_array(const struct json_stream *s); /* … but only ']' was missing */
uint64_t json_stream_nr_broken(const struct json_stream *s); /* stretches that are not JSON */

#endif
