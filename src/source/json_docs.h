/*
 * Reads an input of JSON documents, parsed on all cores and delivered in order: JSON lines through
 * chunks.h, anything else (one big document, an array, documents in a row) through json_stream.h.
 */
#ifndef CULPRIT_SOURCE_JSON_DOCS_H
#define CULPRIT_SOURCE_JSON_DOCS_H

#include "base/json.h"
#include "source/json_scan.h"

struct batch;
struct error;
struct input;
struct sink;

/* Where a document stands; zero when it is a piece of a larger one. */
struct json_place {
	uint32_t file;
	uint64_t line, offset, length;
};

struct json_docs {
	const char *format;         /* as the file is listed */
	const char *const *members; /* see json_stream.h */
	struct json_units units;
	bool may_stay_open; /* an array without its ']' is no loss */
	bool in_order;      /* the decoder carries state over: one thread */
	void *ctx;
	void *(*open)(void *ctx); /* the decoder's state, one for each thread; may be NULL */
	void (*close)(void *decoder);
	/* One document, or one item of the arrays that were taken apart. */
	void (*decode)(void *decoder, struct json_value v, const struct json_place *at,
		       struct batch *b);
	/* Behind the last document of a batch; may be NULL. */
	void (*settle)(void *decoder, struct batch *b);
};

int json_docs_read(struct input *in, const struct json_docs *docs, unsigned cores,
		   struct sink *sink, struct error *err);

#endif
