#include "store/scratch.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "store/pack.h"
#include "store/place.h"

enum { LEVEL = -5 }; /* of zstd: written once and read once, so speed counts */

void scratch_init(struct scratch *x, const struct place *place)
{
	*x = (struct scratch){ .place = place, .pack = pack_new(), .fd = -1 };
}

void scratch_done(struct scratch *x)
{
	if (x->fd >= 0)
		close(x->fd);
	buf_done(&x->packed);
	pack_free(x->pack);
}

int scratch_changed(struct error *err)
{
	return error_set(err, EIO, "a temporary file was changed by another program");
}

static int write_all(int fd, struct str s, off_t at, struct error *err)
{
	while (s.n) {
		ssize_t n = pwrite(fd, s.p, s.n, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return error_set(err, n ? errno : EIO, "cannot write a temporary file: %s",
					 strerror(n ? errno : EIO));
		s = str_skip(s, (size_t)n);
		at += n;
	}
	return 0;
}

int scratch_put(struct scratch *x, struct str raw, struct chunk *c, struct error *err)
{
	int r;

	if (x->fd < 0)
		x->fd = place_scratch(x->place, err);
	if (x->fd < 0) {
		r = x->fd;
		x->fd = -1;
		return r;
	}
	buf_clear(&x->packed);
	pack_close(x->pack, LEVEL, (uint64_t)x->end, raw, &x->packed);
	r = write_all(x->fd, buf_str(&x->packed), x->end, err);
	if (r)
		return r;
	*c = (struct chunk){ x->end, (uint32_t)x->packed.n };
	x->end += (off_t)x->packed.n;
	return 0;
}

int scratch_get(struct scratch *x, const struct chunk *c, struct buf *raw, struct error *err)
{
	ssize_t n;

	buf_clear(&x->packed);
	n = pread(x->fd, buf_room(&x->packed, c->bytes), c->bytes, c->at);
	if (n < 0)
		return error_set(err, errno, "cannot read a temporary file: %s", strerror(errno));
	x->packed.n = (size_t)n;
	return pack_open(x->pack, (uint64_t)c->at, buf_str(&x->packed), raw) ? 0
									     : scratch_changed(err);
}
