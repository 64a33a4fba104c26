#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/inflate.h"
#include "base/mem.h"

enum { TEXT_BYTES = 300000 };

/* Text that compresses, but not to nothing: a block boundary falls inside. */
static struct buf sample(void)
{
	struct buf b = { 0 };
	uint32_t x = 1;

	while (b.n < TEXT_BYTES) {
		x = x * 1664525 + 1013904223;
		buf_fmt(&b, "line %u of the log\n", x >> 12);
	}
	return b;
}

static void add_gzip(struct buf *to, struct str s)
{
	z_stream z = { 0 };
	uLong room;

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	room = deflateBound(&z, (uLong)s.n);
	z.next_in = (Bytef *)(uintptr_t)s.p;
	z.avail_in = (uInt)s.n;
	z.next_out = (Bytef *)buf_room(to, room);
	z.avail_out = (uInt)room;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	to->n += z.total_out;
	deflateEnd(&z);
}

static void add_xz(struct buf *to, struct str s)
{
	size_t room = lzma_stream_buffer_bound(s.n), at = 0;
	char *p = buf_room(to, room);

	assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, (const uint8_t *)s.p,
						 s.n, (uint8_t *)p, &at, room),
			 LZMA_OK);
	to->n += at;
}

static void add_zstd(struct buf *to, struct str s)
{
	size_t room = ZSTD_compressBound(s.n);
	char *p = buf_room(to, room);

	to->n += ZSTD_compress(p, room, s.p, s.n, 3);
}

typedef void add_fn(struct buf *to, struct str s);
static add_fn *const packers[] = { buf_add, add_gzip, add_xz, add_zstd };

/* Everything that comes out, in pieces of `step`; the last answer is returned. */
static ssize_t drain(struct inflate *z, size_t step, struct buf *out, struct error *err)
{
	for (;;) {
		ssize_t n = inflate_read(z, buf_room(out, step), step, err);

		if (n <= 0)
			return n;
		assert_in_range(n, 1, step);
		out->n += (size_t)n;
	}
}

static void check_text(struct str packed, size_t step, struct str want)
{
	struct inflate *z = NULL;
	struct error err = { 0 };
	struct buf out = { 0 };

	assert_int_equal(inflate_of_bytes(&z, packed, &err), 0);
	assert_int_equal(drain(z, step, &out, &err), 0);
	assert_int_equal(inflate_read(z, out.p, 1, &err), 0);
	assert_true(str_eq(buf_str(&out), want));
	assert_int_equal(inflate_position(z), packed.n);
	inflate_free(z);
	buf_done(&out);
}

static void every_format_gives_its_bytes_back_whatever_the_step(void **state)
{
	static const size_t steps[] = { 7, 4096, (size_t)1 << 20 };
	struct buf text = sample();

	for (size_t i = 0; i < 4; i++) {
		struct buf packed = { 0 };

		packers[i](&packed, buf_str(&text));
		for (size_t k = 0; k < 3; k++)
			check_text(buf_str(&packed), steps[k], buf_str(&text));
		buf_done(&packed);
	}
	buf_done(&text);
}

static void several_streams_in_a_row_are_one(void **state)
{
	for (size_t i = 1; i < 4; i++) {
		struct buf packed = { 0 };

		packers[i](&packed, STR("first\n"));
		packers[i](&packed, STR(""));
		packers[i](&packed, STR("second\n"));
		check_text(buf_str(&packed), 100, STR("first\nsecond\n"));
		buf_done(&packed);
	}
}

static void zeros_behind_a_gzip_member_are_padding(void **state)
{
	struct buf packed = { 0 };

	add_gzip(&packed, STR("text"));
	for (int i = 0; i < 512; i++)
		buf_char(&packed, 0);
	check_text(buf_str(&packed), 100, STR("text"));
	buf_done(&packed);
}

static void what_was_cut_is_delivered_up_to_the_cut_and_then_explained(void **state)
{
	struct buf text = sample();

	for (size_t i = 1; i < 4; i++) {
		struct buf packed = { 0 }, out = { 0 };
		struct inflate *z = NULL;
		struct error err = { 0 };

		packers[i](&packed, buf_str(&text));
		assert_int_equal(
			inflate_of_bytes(&z, str_head(buf_str(&packed), packed.n / 2), &err), 0);
		assert_int_equal(drain(z, 1000, &out, &err), -EBADMSG);
		assert_non_null(strstr(err.msg, "ends in the middle"));
		assert_int_equal(inflate_read(z, text.p, 1, &err), -EBADMSG);
		assert_true(str_starts(buf_str(&text), buf_str(&out)));
		if (i == 1)
			assert_true(out.n > text.n / 4);
		inflate_free(z);
		buf_done(&packed);
		buf_done(&out);
	}
	buf_done(&text);
}

static void a_flipped_byte_is_noticed(void **state)
{
	struct buf text = sample();

	for (size_t i = 1; i < 3; i++) {
		struct buf packed = { 0 }, out = { 0 };
		struct inflate *z = NULL;
		struct error err = { 0 };

		packers[i](&packed, buf_str(&text));
		packed.p[packed.n / 2] ^= 0x55;
		assert_int_equal(inflate_of_bytes(&z, buf_str(&packed), &err), 0);
		assert_int_equal(drain(z, 1000, &out, &err), -EBADMSG);
		inflate_free(z);
		buf_done(&packed);
		buf_done(&out);
	}
	buf_done(&text);
}

static void garbage_behind_the_last_stream_is_explained(void **state)
{
	for (size_t i = 1; i < 4; i++) {
		struct buf packed = { 0 }, out = { 0 };
		struct inflate *z = NULL;
		struct error err = { 0 };

		packers[i](&packed, STR("text"));
		buf_add(&packed, STR("garbage here"));
		assert_int_equal(inflate_of_bytes(&z, buf_str(&packed), &err), 0);
		assert_int_equal(drain(z, 1000, &out, &err), -EBADMSG);
		assert_str_equal(buf_str(&out), "text");
		inflate_free(z);
		buf_done(&packed);
		buf_done(&out);
	}
}

static void short_and_empty_inputs_are_plain(void **state)
{
	check_text(STR(""), 10, STR(""));
	check_text(STR("a"), 10, STR("a"));
	check_text(STR("\x1f\x8b"), 10, STR("\x1f\x8b"));
	check_text(STR("\x1f\x8b text"), 10, STR("\x1f\x8b text"));
}

static void a_pipe_that_trickles_is_recognised(void **state)
{
	struct buf packed = { 0 }, out = { 0 };
	struct inflate *z = NULL;
	struct error err = { 0 };
	pid_t pid;
	int fds[2];

	add_gzip(&packed, STR("slowly"));
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		for (size_t i = 0; i < packed.n; i++) {
			if (write(fds[1], packed.p + i, 1) != 1)
				_exit(1);
			usleep(200);
		}
		_exit(0);
	}
	close(fds[1]);
	assert_int_equal(inflate_of_fd(&z, fds[0], &err), 0);
	assert_false(inflate_is_plain(z));
	assert_int_equal(drain(z, 100, &out, &err), 0);
	assert_str_equal(buf_str(&out), "slowly");
	inflate_free(z);
	close(fds[0]);
	buf_done(&packed);
	buf_done(&out);
}

static void utf16_comes_out_as_utf8(void **state)
{
	struct buf out = { 0 };
	struct inflate *z = NULL;
	struct error err = { 0 };

	assert_int_equal(inflate_of_bytes(&z, STR("\xfe\xff\0a\0\xe9\0\n"), &err), 0);
	assert_false(inflate_is_plain(z));
	assert_int_equal(drain(z, 1, &out, &err), 0);
	assert_str_equal(buf_str(&out), "a\xc3\xa9\n");
	inflate_free(z);
	buf_clear(&out);
	assert_int_equal(inflate_of_bytes(&z,
					  STR("\xff\xfe"
					      "a\0b"),
					  &err),
			 0);
	assert_int_equal(drain(z, 100, &out, &err), -EBADMSG);
	assert_str_equal(buf_str(&out), "a");
	assert_non_null(strstr(err.msg, "UTF-16"));
	inflate_free(z);
	buf_done(&out);
}

static void a_directory_is_explained(void **state)
{
	struct inflate *z = NULL;
	struct error err = { 0 };
	int fd = open("/", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(inflate_of_fd(&z, fd, &err), -EISDIR);
	assert_null(z);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_format_gives_its_bytes_back_whatever_the_step),
		cmocka_unit_test(several_streams_in_a_row_are_one),
		cmocka_unit_test(zeros_behind_a_gzip_member_are_padding),
		cmocka_unit_test(what_was_cut_is_delivered_up_to_the_cut_and_then_explained),
		cmocka_unit_test(a_flipped_byte_is_noticed),
		cmocka_unit_test(garbage_behind_the_last_stream_is_explained),
		cmocka_unit_test(short_and_empty_inputs_are_plain),
		cmocka_unit_test(a_pipe_that_trickles_is_recognised),
		cmocka_unit_test(utf16_comes_out_as_utf8),
		cmocka_unit_test(a_directory_is_explained),
	};

	return RUN(tests);
}
