#include "agent/jvm/header.h"

#include <stdint.h>
#include <string.h>

#define NAME "culprit="
#define NAME_BYTES (sizeof(NAME) - 1)

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static size_t base64_bytes(size_t nr)
{
	return nr / 3 * 4 + (nr % 3 ? nr % 3 + 1 : 0);
}

static void base64_write(char *to, const uint8_t *from, size_t nr)
{
	for (size_t i = 0; i < nr; i += 3) {
		size_t some = nr - i < 3 ? nr - i : 3;
		uint32_t v = (uint32_t)from[i] << 16;

		v |= some > 1 ? (uint32_t)from[i + 1] << 8 : 0;
		v |= some > 2 ? from[i + 2] : 0;
		for (size_t k = 0; k <= some; k++)
			*to++ = letters[v >> (18 - 6 * k) & 63];
	}
}

static int value_of(char c)
{
	const char *at = c ? strchr(letters, c) : NULL;

	return at ? (int)(at - letters) : -1;
}

/* How many bytes; 0: they make no sense, or find no room. */
static size_t base64_read(const char *from, size_t nr, uint8_t *to, size_t room)
{
	size_t n = 0;
	uint32_t v = 0;

	for (size_t i = 0; i < nr; i++) {
		int digit = value_of(from[i]);

		if (digit < 0)
			return 0;
		v = v << 6 | (uint32_t)digit;
		if (i % 4 == 0)
			continue;
		if (n == room)
			return 0;
		to[n++] = (uint8_t)(v >> (6 - 2 * (i % 4)));
	}
	return nr % 4 == 1 ? 0 : n;
}

/* The next entry of a list, without blanks around it; false: there is none. */
static bool entry_take(const char **text, const char **entry, size_t *nr)
{
	const char *p = *text, *end;

	p += strspn(p, " \t,");
	if (!*p)
		return false;
	end = p + strcspn(p, ",");
	*text = end;
	while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*entry = p;
	*nr = (size_t)(end - p);
	return true;
}

static bool is_ours(const char *entry, size_t nr)
{
	return nr >= NAME_BYTES && memcmp(entry, NAME, NAME_BYTES) == 0;
}

long header_write(char *to, const char *was, const void *bag, size_t nr)
{
	size_t n = 0, entries = 1, length, all;
	const char *entry;

	while (entry_take(&was, &entry, &length)) {
		if (is_ours(entry, length))
			continue;
		if (n + length + 1 > HEADER_BYTES)
			return -1;
		memcpy(to + n, entry, length);
		n += length;
		to[n++] = ',';
		entries++;
	}
	all = n + NAME_BYTES + base64_bytes(nr);
	if (all > HEADER_BYTES || entries > HEADER_ENTRIES)
		return -1;
	memcpy(to + n, NAME, NAME_BYTES);
	base64_write(to + n + NAME_BYTES, bag, nr);
	to[all] = 0;
	return (long)all;
}

long header_read(const char *value, void *bag, size_t room)
{
	const char *entry;
	size_t length;

	while (entry_take(&value, &entry, &length))
		if (is_ours(entry, length)) {
			/* properties of an entry stand behind it */
			const char *end = memchr(entry, ';', length);

			length = end ? (size_t)(end - entry) : length;
			return (long)base64_read(entry + NAME_BYTES, length - NAME_BYTES, bag,
						 room);
		}
	return -1;
}
