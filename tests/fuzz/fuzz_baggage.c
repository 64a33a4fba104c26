/*
 * Baggage of strangers, as bytes and as a header: it is refused, or it can be read, packed into,
 * split, joined and written again; what was written can always be read. The first byte says how
 * many of the rest are a second one that is joined.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "lib/baggage/baggage.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct culprit_query queries[] = {
	{ .id = 1, .keep = CULPRIT_ALL },
	{ .id = 2, .keep = CULPRIT_FIRST, .n = 2 },
	{ .id = 3, .keep = CULPRIT_RECENT, .n = 2 },
	{ .id = 4,
	  .keep = CULPRIT_AGGREGATE,
	  .nr_folds = 3,
	  .folds = { CULPRIT_SUM, CULPRIT_MIN, CULPRIT_AVERAGE } },
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

static int look(void *to, const struct culprit_tuple *t)
{
	uint64_t *sum = to;

	for (size_t i = 0; i < t->n; i++)
		*sum += ((const unsigned char *)t->bytes)[i];
	must(t->count > 0);
	return 0;
}

/* Whether it can be read at all; then all of it can. */
static bool can_read(struct culprit_baggage *b)
{
	bool is_good = true;
	uint64_t sum = 0;

	for (unsigned i = 0; i < 4; i++) {
		ssize_t r = culprit_baggage_unpack(b, &queries[i], look, &sum);

		must(r >= 0 || r == -EBADMSG || r == -E2BIG);
		must(!i || is_good == (r >= 0));
		is_good = r >= 0;
	}
	return is_good;
}

static struct culprit_baggage *copy(struct culprit_baggage *b)
{
	struct culprit_baggage *again = NULL;
	ssize_t n = culprit_baggage_serialize(b, NULL, 0);
	unsigned char *bytes;

	if (n < 0)
		return NULL;
	bytes = malloc((size_t)n + 1);
	must(culprit_baggage_serialize(b, bytes, (size_t)n) == n);
	must(!culprit_baggage_deserialize(&again, bytes, (size_t)n));
	free(bytes);
	return again;
}

static void use(struct culprit_baggage *b, struct culprit_baggage *other)
{
	const struct culprit_number numbers[3] = { { .integer = 1 }, { .integer = 2 } };
	struct culprit_baggage *kid = NULL, *again;
	char value[CULPRIT_HEADER_BYTES + 1];

	for (unsigned i = 0; i < 4; i++)
		culprit_baggage_pack(&b, &queries[i], "x", 1, i == 3 ? numbers : NULL);
	culprit_baggage_split(b, &kid);
	culprit_baggage_pack(&kid, &queries[0], "kid", 3, NULL);
	if (culprit_baggage_join(&b, other) < 0)
		culprit_baggage_free(other);
	if (culprit_baggage_join(&b, kid) < 0)
		culprit_baggage_free(kid);
	must(can_read(b));
	again = copy(b);
	must(can_read(again));
	culprit_baggage_to_header(again, "a=b", value, sizeof(value));
	culprit_baggage_free(again);
	culprit_baggage_free(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct culprit_baggage *a = NULL, *b = NULL;
	size_t n;

	if (!size)
		return 0;
	n = data[0] < size - 1 ? data[0] : size - 1;
	if (culprit_baggage_from_header(&a, (const char *)data, size) == 1)
		can_read(a);
	culprit_baggage_free(a);
	must(!culprit_baggage_deserialize(&a, data + 1, n));
	must(!culprit_baggage_deserialize(&b, data + 1 + n, size - 1 - n));
	if (can_read(a) && can_read(b)) {
		use(a, b);
	} else {
		culprit_baggage_free(a);
		culprit_baggage_free(b);
	}
	return 0;
}
