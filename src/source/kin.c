#include "source/kin.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "source/input.h"
#include "source/rotation.h"
#include "source/source.h"

#define PACKED_TIMES 8 /* how much more text a packed file holds, about */

bool kin_is_of(const struct kin *k, struct str log)
{
	return k->log.n && str_eq(buf_str(&k->log), log);
}

void kin_set(struct kin *k, struct str log, int fd, uint64_t upto)
{
	struct input *in;
	struct error err;

	buf_clear(&k->log);
	buf_clear(&k->head);
	buf_add(&k->log, log);
	if (fd < 0 || input_of_fd(&in, "", fd, upto, &err) < 0)
		return;
	buf_add(&k->head, input_head(in, NULL));
	input_close(in);
}

void kin_done(struct kin *k)
{
	buf_done(&k->log);
	buf_done(&k->head);
}

static bool is_of(const struct source_list *list, size_t nr, struct str log)
{
	struct buf b = { 0 };
	bool is;

	rotation_log(&b, str_of(list->paths[nr]));
	is = str_eq(buf_str(&b), log);
	buf_done(&b);
	return is;
}

static uint64_t weight(const char *path)
{
	struct rotation r;
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return 0;
	rotation_of(str_of(path), &r);
	return (uint64_t)st.st_size * (r.is_packed ? PACKED_TIMES : 1);
}

/* The largest of the log that this one is of; it alone is none. */
static int open_largest(const struct source_list *list, size_t nr, struct str log)
{
	size_t from = nr, until = nr + 1, best;
	uint64_t most = 0;

	while (from && is_of(list, from - 1, log))
		from--;
	while (until < list->nr && is_of(list, until, log))
		until++;
	if (until - from < 2)
		return -1;
	best = from;
	for (size_t i = from; i < until; i++) {
		uint64_t w = weight(list->paths[i]);

		if (w > most) {
			most = w;
			best = i;
		}
	}
	return open(list->paths[best], O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

struct str kin_of_listed(struct kin *k, const struct source_list *list, size_t nr)
{
	struct buf log = { 0 };

	rotation_log(&log, str_of(list->paths[nr]));
	if (!kin_is_of(k, buf_str(&log))) {
		cleanup(close_fd) int fd = open_largest(list, nr, buf_str(&log));

		kin_set(k, buf_str(&log), fd, UINT64_MAX);
	}
	buf_done(&log);
	return buf_str(&k->head);
}
