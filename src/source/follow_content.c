#include "source/follow_content.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/inflate.h"
#include "base/mem.h"
#include "source/input.h"

#define STEP_BYTES ((size_t)64 << 10)

static struct inflate *open_at(int fd, uint64_t at)
{
	struct inflate *z = NULL;
	struct error err;

	if (lseek(fd, (off_t)at, SEEK_SET) < 0 || inflate_of_fd(&z, fd, &err) < 0)
		return NULL;
	return z;
}

/* As much of n bytes as there is. */
static size_t fill(struct inflate *z, char *to, size_t n)
{
	struct error err;
	size_t have = 0;
	ssize_t got = 1;

	while (z && have < n && got > 0) {
		got = inflate_read(z, to + have, n - have, &err);
		if (got > 0)
			have += (size_t)got;
	}
	return have;
}

size_t follow_content_head(int fd, char *head, size_t n, bool *is_plain)
{
	struct inflate *z = open_at(fd, input_hole(fd, INT64_MAX));
	size_t have = fill(z, head, n);

	*is_plain = z && inflate_is_plain(z);
	inflate_free(z);
	return have;
}

uint64_t follow_content_whole(int fd, uint64_t size)
{
	char block[4096];
	uint64_t at = size;

	while (at) {
		size_t n = at < sizeof(block) ? (size_t)at : sizeof(block);
		const char *end;

		if (pread(fd, block, n, (off_t)(at - n)) != (ssize_t)n)
			return size; /* it is not so long any more: who reads it will see */
		end = memrchr(block, '\n', n);
		if (end)
			return at - n + (size_t)(end - block) + 1;
		at -= n;
	}
	return 0;
}

enum follow_content_order follow_content_cmp(int a, int b)
{
	struct inflate *za = open_at(a, 0), *zb = open_at(b, 0);
	char *pa = mem_alloc(STEP_BYTES), *pb = mem_alloc(STEP_BYTES);
	enum follow_content_order order = CONTENT_SAME;
	size_t na, nb;

	do {
		na = fill(za, pa, STEP_BYTES);
		nb = fill(zb, pb, STEP_BYTES);
		if (memcmp(pa, pb, na < nb ? na : nb))
			order = CONTENT_DIFFERS;
		else if (na != nb)
			order = na < nb ? CONTENT_FRONT : CONTENT_LONGER;
	} while (order == CONTENT_SAME && na == STEP_BYTES);
	if (!za || !zb)
		order = CONTENT_DIFFERS;
	inflate_free(za);
	inflate_free(zb);
	free(pa);
	free(pb);
	return order;
}
