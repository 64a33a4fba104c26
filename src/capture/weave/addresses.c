#include "capture/weave/addresses.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "capture/probe/guest/far.h"
#include "wire/handover.h"

#define PART 16384
#define MOST ((size_t)4 << 20)

static bool is_loopback(const struct handover_address *a)
{
	return !a->high && (a->low <= 1 || a->low >> 24 == 0xffff7f);
}

bool addresses_is_common(const struct handover_address *a)
{
	return a->high >> 54 == 0xfe80 >> 6 || (!a->high && a->low >> 16 == 0xffffa9fe);
}

/* "|-- 10.0.0.1", and on the next line "/32 host LOCAL". */
bool addresses_take_fib(struct str *text, struct handover_address *a)
{
	struct handover_address was = { 0 };

	while (text->n) {
		size_t end = str_find_char(*text, '\n');
		struct str line = str_trim(str_head(*text, end));
		uint64_t v = 0, part;
		int nr = 0;

		*text = str_skip(*text, end < text->n ? end + 1 : end);
		if (str_find(line, STR("/32 host LOCAL")) < line.n && was.low) {
			*a = was;
			return true;
		}
		if (!str_take(&line, STR("|-- ")))
			continue;
		for (; nr < 4 && str_take_uint(&line, &part) && part < 256; nr++) {
			v = v << 8 | part;
			str_take_char(&line, '.');
		}
		was.low = nr == 4 ? v | (uint64_t)0xffff << 32 : 0;
	}
	return false;
}

static int digit_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* "fe80000000000000…  02 40 20 80 eth0" */
bool addresses_take_inet6(struct str *text, struct handover_address *a)
{
	while (text->n) {
		size_t end = str_find_char(*text, '\n');
		struct str line = str_head(*text, end);
		size_t i = 0;

		*text = str_skip(*text, end < text->n ? end + 1 : end);
		*a = (struct handover_address){ 0 };
		for (; i < 32 && i < line.n && digit_of(line.p[i]) >= 0; i++) {
			uint64_t *half = i < 16 ? &a->high : &a->low;

			*half = *half << 4 | (uint64_t)digit_of(line.p[i]);
		}
		if (i == 32)
			return true;
	}
	return false;
}

static void add(struct handover *table, const struct handover_address *a)
{
	uint64_t nr = table->nr_here;

	if (is_loopback(a) || far_is_here(table, a) || nr >= HANDOVER_HERE)
		return;
	table->here[nr] = *a;
	__atomic_store_n(&table->nr_here, nr + 1, __ATOMIC_RELEASE);
}

static void whole_file(const char *path, struct buf *to)
{
	cleanup(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;

	while (fd >= 0 && n > 0 && to->n < MOST) {
		n = read(fd, buf_room(to, PART), PART);
		to->n += n > 0 ? (size_t)n : 0;
	}
}

static void look_at(struct handover *table, int pid, const char *file,
		    bool (*take)(struct str *text, struct handover_address *a))
{
	struct handover_address a;
	struct buf read = { 0 };
	struct str text;
	char path[64];

	if (pid)
		snprintf(path, sizeof(path), "/proc/%d/net/%s", pid, file);
	else
		snprintf(path, sizeof(path), "/proc/self/net/%s", file);
	whole_file(path, &read);
	text = buf_str(&read);
	while (take(&text, &a))
		add(table, &a);
	buf_done(&read);
}

void addresses_look(struct handover *table, int pid)
{
	look_at(table, pid, "fib_trie", addresses_take_fib);
	look_at(table, pid, "if_inet6", addresses_take_inet6);
}
