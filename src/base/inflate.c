#include "base/inflate.h"

#include <errno.h>
#include <limits.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/utf16.h"

/*
 * One stretch of stored bytes (`in`) is refilled from the file and handed to the decoder of the
 * format; the decoder says how much it took and gave. Whatever goes wrong becomes `broken`, which
 * is reported only when every byte in front of it was delivered, and again on each later call.
 */

#define IN_BYTES ((size_t)128 << 10)
#define LZMA_MEMORY \
	((uint64_t)256 << 20) /* what the largest xz preset needs, with room to spare \
			       */
#define ZSTD_WINDOW_LOG 27    /* 128 MiB: the most that zstd itself accepts unasked */

enum format { PLAIN, GZIP, XZ, ZSTD, UTF16 };

struct inflate {
	int fd; /* -1: bytes only */
	enum format format;
	struct str in; /* stored bytes not yet decoded */
	char *room;    /* what in points into when it comes from a file */
	bool at_end;   /* nothing follows in */
	bool between;  /* between two streams of one file, where an end is no damage */
	uint64_t taken;
	z_stream gz;
	lzma_stream xz;
	ZSTD_DStream *zstd;
	struct utf16 utf16;
	struct error broken; /* code 0: fine so far */
};

static const char *const format_names[] = { "plain", "gzip", "xz", "zstd", "UTF-16" };

static int refill(struct inflate *z)
{
	ssize_t n;

	if (z->at_end || z->in.n)
		return 0;
	do
		n = read(z->fd, z->room, IN_BYTES);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_set(&z->broken, errno, "cannot read: %s", strerror(errno));
	z->at_end = !n;
	z->in = (struct str){ z->room, (size_t)n };
	return 0;
}

static void take(struct inflate *z, size_t n)
{
	z->in = str_skip(z->in, n);
	z->taken += n;
}

static int broken(struct inflate *z, const char *how)
{
	return error_set(&z->broken, EBADMSG, "the %s data %s after %llu stored bytes",
			 format_names[z->format], how, (unsigned long long)z->taken);
}

/* A pipe may hand out its first bytes one by one, so the head is read until it can be judged. */
static int fill_head(struct inflate *z, struct error *err)
{
	size_t have = 0;

	while (have < 6) {
		ssize_t n = read(z->fd, z->room + have, IN_BYTES - have);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(err, errno, "cannot read: %s", strerror(errno));
		if (!n) {
			z->at_end = true;
			break;
		}
		have += (size_t)n;
	}
	z->in = (struct str){ z->room, have };
	return 0;
}

static bool is_zstd(struct str s)
{
	/* a frame, or a skippable frame (pzstd begins files with one) */
	return str_starts(s, STR("\x28\xb5\x2f\xfd")) ||
	       (s.n >= 4 && ((unsigned char)s.p[0] & 0xf0) == 0x50 &&
		!memcmp(s.p + 1, "\x2a\x4d\x18", 3));
}

/* A byte order mark; with two zeros behind it, it would be that of UTF-32. */
static bool is_utf16(struct str s)
{
	return (str_starts(s, STR("\xff\xfe")) || str_starts(s, STR("\xfe\xff"))) &&
	       !str_starts(s, STR("\xff\xfe\0\0"));
}

static enum format format_of(struct str head)
{
	/* deflate is the only method that gzip ever had; asking for it spares text by accident */
	if (str_starts(head, STR("\x1f\x8b\x08")))
		return GZIP;
	if (str_starts(head, STR("\xfd"
				 "7zXZ\0")))
		return XZ;
	if (is_utf16(head))
		return UTF16;
	return is_zstd(head) ? ZSTD : PLAIN;
}

static int start(struct inflate *z, struct error *err)
{
	bool ok = true;

	z->format = format_of(z->in);
	z->between = true;
	if (z->format == UTF16) {
		z->utf16.big_endian = z->in.p[0] == '\xfe';
		take(z, 2);
	}
	if (z->format == GZIP)
		ok = inflateInit2(&z->gz, 15 + 16) == Z_OK;
	if (z->format == XZ)
		ok = lzma_stream_decoder(&z->xz, LZMA_MEMORY, LZMA_CONCATENATED) == LZMA_OK;
	if (z->format == ZSTD) {
		z->zstd = ZSTD_createDStream();
		ok = z->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(z->zstd, ZSTD_d_windowLogMax,
								     ZSTD_WINDOW_LOG));
	}
	return ok ? 0
		  : error_set(err, ENOMEM, "cannot start the %s decoder", format_names[z->format]);
}

static int open_with(struct inflate **z, struct inflate *made, struct error *err)
{
	int r = made->fd >= 0 ? fill_head(made, err) : 0;

	if (!r)
		r = start(made, err);
	if (r)
		inflate_free(made);
	else
		*z = made;
	return r;
}

int inflate_of_fd(struct inflate **z, int fd, struct error *err)
{
	struct inflate *made = mem_zalloc(sizeof(*made));

	made->fd = fd;
	made->room = mem_alloc(IN_BYTES);
	return open_with(z, made, err);
}

int inflate_of_bytes(struct inflate **z, struct str bytes, struct error *err)
{
	struct inflate *made = mem_zalloc(sizeof(*made));

	made->fd = -1;
	made->in = bytes;
	made->at_end = true;
	return open_with(z, made, err);
}

void inflate_free(struct inflate *z)
{
	if (!z)
		return;
	if (z->format == GZIP)
		inflateEnd(&z->gz);
	if (z->format == XZ)
		lzma_end(&z->xz);
	ZSTD_freeDStream(z->zstd);
	free(z->room);
	free(z);
}

bool inflate_is_plain(const struct inflate *z)
{
	return z->format == PLAIN;
}

uint64_t inflate_position(const struct inflate *z)
{
	return z->taken;
}

static ssize_t read_plain(struct inflate *z, char *buf, size_t n)
{
	if (!z->in.n && !z->at_end) {
		ssize_t got;

		do
			got = read(z->fd, buf, n); /* straight to the caller: no copy */
		while (got < 0 && errno == EINTR);
		if (got < 0)
			return error_set(&z->broken, errno, "cannot read: %s", strerror(errno));
		z->at_end = !got && n;
		z->taken += (uint64_t)got;
		return got;
	}
	if (n > z->in.n)
		n = z->in.n;
	if (n)
		memcpy(buf, z->in.p, n);
	take(z, n);
	return (ssize_t)n;
}

/* gzip ignores zero bytes after the last member (tapes pad with them); so do we. */
static void skip_padding(struct inflate *z)
{
	while (z->in.n && !z->in.p[0])
		take(z, 1);
}

static ssize_t step_gzip(struct inflate *z, char *buf, size_t n)
{
	size_t given = z->in.n < UINT32_MAX ? z->in.n : UINT32_MAX;
	size_t room = n < UINT32_MAX ? n : UINT32_MAX;
	int r;

	if (z->between) {
		skip_padding(z);
		if (!z->in.n)
			return 0;
		if (z->taken && inflateReset(&z->gz) != Z_OK)
			return broken(z, "cannot be continued");
		given = z->in.n < UINT32_MAX ? z->in.n : UINT32_MAX;
		z->between = false;
	}
	z->gz.next_in = (Bytef *)(uintptr_t)z->in.p;
	z->gz.avail_in = (uInt)given;
	z->gz.next_out = (Bytef *)buf;
	z->gz.avail_out = (uInt)room;
	r = inflate(&z->gz, Z_NO_FLUSH);
	take(z, given - z->gz.avail_in);
	room -= z->gz.avail_out;
	if (r == Z_STREAM_END)
		z->between = true;
	else if (r != Z_OK && r != Z_BUF_ERROR)
		broken(z, "is damaged");
	return (ssize_t)room;
}

static ssize_t step_xz(struct inflate *z, char *buf, size_t n)
{
	lzma_ret r;

	z->xz.next_in = (const uint8_t *)z->in.p;
	z->xz.avail_in = z->in.n;
	z->xz.next_out = (uint8_t *)buf;
	z->xz.avail_out = n;
	r = lzma_code(&z->xz, z->at_end ? LZMA_FINISH : LZMA_RUN);
	take(z, z->in.n - z->xz.avail_in);
	n -= z->xz.avail_out;
	z->between = r == LZMA_STREAM_END;
	if (r == LZMA_MEMLIMIT_ERROR)
		broken(z, "needs more memory than is allowed");
	else if (r != LZMA_OK && r != LZMA_STREAM_END && r != LZMA_BUF_ERROR)
		broken(z, "is damaged");
	return (ssize_t)n;
}

static ssize_t step_zstd(struct inflate *z, char *buf, size_t n)
{
	ZSTD_inBuffer in = { z->in.p, z->in.n, 0 };
	ZSTD_outBuffer out = { buf, n, 0 };
	size_t r;

	if (z->between && !z->in.n)
		return 0;
	r = ZSTD_decompressStream(z->zstd, &out, &in);
	take(z, in.pos);
	if (ZSTD_isError(r))
		broken(z, "is damaged");
	else
		z->between = !r;
	return (ssize_t)out.pos;
}

static ssize_t step_utf16(struct inflate *z, char *buf, size_t n)
{
	struct str rest = z->in;
	size_t got = utf16_decode(&z->utf16, &rest, buf, n);

	take(z, z->in.n - rest.n);
	z->between = utf16_is_whole(&z->utf16);
	return (ssize_t)got;
}

static ssize_t step(struct inflate *z, char *buf, size_t n)
{
	switch (z->format) {
	case GZIP:
		return step_gzip(z, buf, n);
	case XZ:
		return step_xz(z, buf, n);
	case ZSTD:
		return step_zstd(z, buf, n);
	case UTF16:
		return step_utf16(z, buf, n);
	default:
		return 0;
	}
}

/* Steps the decoder until it gives something, is through, or cannot go on. */
static ssize_t read_packed(struct inflate *z, char *buf, size_t n)
{
	for (;;) {
		uint64_t before = z->taken;
		ssize_t got;

		if (refill(z))
			return 0;
		got = step(z, buf, n);
		if (got > 0 || z->broken.code)
			return got > 0 ? got : 0;
		if (z->in.n == 0 && !z->at_end)
			continue;
		if (z->between && !z->in.n)
			return 0;
		if (z->taken != before)
			continue;
		broken(z, z->in.n ? "is damaged" : "ends in the middle");
		return 0;
	}
}

ssize_t inflate_read(struct inflate *z, void *buf, size_t n, struct error *err)
{
	ssize_t got = 0;

	if (n > SSIZE_MAX)
		n = SSIZE_MAX;
	if (!n)
		return 0;
	if (!z->broken.code)
		got = z->format == PLAIN ? read_plain(z, buf, n) : read_packed(z, buf, n);
	if (got > 0)
		return got;
	return z->broken.code ? error_set(err, z->broken.code, "%s", z->broken.msg) : 0;
}
