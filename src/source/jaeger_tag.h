/* Reads the tags of Jaeger in each of the shapes that it gives them. */
#ifndef CULPRIT_SOURCE_JAEGER_TAG_H
#define CULPRIT_SOURCE_JAEGER_TAG_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "model/attr.h"

/* Walks over tags: an array of {key, type, value} or {key, vType, vStr …}, or a map. */
struct jaeger_tags {
	struct json_walk walk;
	bool binary_is_hex; /* as in the span documents of Elasticsearch; base64 elsewhere */
	struct buf *room;   /* for values that are decoded; valid until the next tag */
	struct arena *arena;
};

bool jaeger_tags_next(struct jaeger_tags *t, struct attr *a);

#endif
