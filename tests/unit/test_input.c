#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "source/input.h"

static void packed(struct buf *out, struct str text)
{
	z_stream z = { 0 };

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	z.next_in = (Bytef *)(uintptr_t)text.p;
	z.avail_in = (uInt)text.n;
	z.next_out = (Bytef *)buf_room(out, deflateBound(&z, text.n) + 64);
	z.avail_out = (uInt)(out->room - out->n);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	out->n += z.total_out;
	deflateEnd(&z);
}

/* Text that does not repeat, so that it does not vanish when it is packed. */
static void long_text(struct buf *b, size_t lines)
{
	uint32_t x = 1;

	for (size_t i = 0; i < lines; i++) {
		x = x * 1664525 + 1013904223;
		buf_fmt(b, "%zu %08x\n", i, x);
	}
}

static ssize_t drain(struct input *in, size_t step, struct buf *out, struct error *err)
{
	ssize_t n;

	while ((n = input_read(in, buf_room(out, step), step, err)) > 0)
		out->n += (size_t)n;
	return n;
}

static void the_head_is_seen_and_then_read_again(void **state)
{
	struct buf text = { 0 }, got = { 0 };
	struct error err = { 0 };
	struct input *in;
	bool whole = true;

	(void)state;
	long_text(&text, 40000);
	assert_true(text.n > INPUT_HEAD_BYTES);
	for (size_t step = 1000; step < 1000000; step *= 9) {
		buf_clear(&got);
		assert_int_equal(input_of_bytes(&in, "x", buf_str(&text), &err), 0);
		assert_int_equal(input_head(in, &whole).n, INPUT_HEAD_BYTES);
		assert_false(whole);
		assert_int_equal(drain(in, step, &got, &err), 0);
		assert_true(str_eq(buf_str(&got), buf_str(&text)));
		assert_int_equal(input_position(in), text.n);
		input_close(in);
	}
	buf_done(&text);
	buf_done(&got);
}

static void compressed_bytes_and_streams_in_a_row_come_out_as_one(void **state)
{
	struct buf text = { 0 }, zip = { 0 }, got = { 0 };
	struct error err = { 0 };
	struct input *in;
	bool whole = false;

	(void)state;
	packed(&zip, STR("one\n"));
	packed(&zip, STR("two\n"));
	assert_int_equal(input_of_bytes(&in, "x.gz", buf_str(&zip), &err), 0);
	assert_false(input_is_plain(in));
	assert_str_equal(input_head(in, &whole), "one\ntwo\n");
	assert_true(whole);
	assert_int_equal(drain(in, 3, &got, &err), 0);
	assert_str_equal(buf_str(&got), "one\ntwo\n");
	input_close(in);
	buf_done(&text);
	buf_done(&zip);
	buf_done(&got);
}

static void what_is_before_the_damage_is_delivered_first(void **state)
{
	struct buf text = { 0 }, zip = { 0 }, got = { 0 };
	struct error err = { 0 };
	struct input *in;

	(void)state;
	long_text(&text, 60000);
	packed(&zip, buf_str(&text));
	for (size_t cut = 1000; cut < zip.n; cut += zip.n / 5) {
		buf_clear(&got);
		assert_int_equal(input_of_bytes(&in, "x", str_head(buf_str(&zip), cut), &err), 0);
		input_head(in, NULL);
		assert_int_equal(drain(in, 7777, &got, &err), -EBADMSG);
		assert_true(got.n > 0 && str_starts(buf_str(&text), buf_str(&got)));
		assert_true(err.msg[0]);
		assert_int_equal(input_read(in, buf_room(&got, 9), 9, &err), -EBADMSG);
		input_close(in);
	}
	buf_done(&text);
	buf_done(&zip);
	buf_done(&got);
}

static void a_file_tells_its_size_and_age_and_a_directory_is_refused(void **state)
{
	char path[] = "/tmp/culprit-input-XXXXXX";
	int fd = mkstemp(path);
	struct error err = { 0 };
	struct input *in = NULL;

	(void)state;
	assert_int_equal(write(fd, "hello\n", 6), 6);
	close(fd);
	assert_int_equal(input_open(&in, path, &err), 0);
	assert_true(input_is_plain(in));
	assert_int_equal(input_bytes(in), 6);
	assert_true(input_mtime(in) > 0);
	assert_string_equal(input_path(in), path);
	input_close(in);
	unlink(path);
	in = NULL;
	assert_int_equal(input_open(&in, path, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "cannot open"));
	assert_int_equal(input_open(&in, "/", &err), -EISDIR);
	assert_null(in);
}

static void an_open_file_is_read_from_its_start_up_to_a_place(void **state)
{
	const uint64_t places[] = {
		0, 1, 1000, INPUT_HEAD_BYTES, INPUT_HEAD_BYTES + 7, UINT64_MAX
	};
	struct buf text = { 0 }, got = { 0 };
	struct error err = { 0 };
	struct input *in;
	FILE *f = tmpfile();

	(void)state;
	assert_non_null(f);
	long_text(&text, 40000);
	assert_int_equal(fwrite(text.p, 1, text.n, f), text.n);
	fflush(f);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct str want = str_head(buf_str(&text), places[i]);
		bool whole;

		buf_clear(&got);
		assert_int_equal(input_of_fd(&in, "x", fileno(f), places[i], &err), 0);
		assert_int_equal(input_bytes(in), want.n);
		assert_true(str_eq(input_head(in, &whole), str_head(want, INPUT_HEAD_BYTES)));
		assert_int_equal(whole, want.n < INPUT_HEAD_BYTES);
		assert_int_equal(drain(in, 5000, &got, &err), 0);
		assert_true(str_eq(buf_str(&got), want));
		input_close(in);
	}
	fclose(f);
	buf_done(&text);
	buf_done(&got);
}

static void zero_bytes_that_a_cut_left_in_front_are_passed_over(void **state)
{
	const off_t holes[] = { 0, 10, 63, 64, 5000, 10000000 };
	struct error err = { 0 };
	struct buf got = { 0 };
	struct input *in;

	(void)state;
	for (size_t i = 0; i < sizeof(holes) / sizeof(*holes); i++) {
		uint64_t start = holes[i] < 64 ? 0 : (uint64_t)holes[i];
		FILE *f = tmpfile();

		assert_non_null(f);
		assert_int_equal(pwrite(fileno(f), "one\ntwo\n", 8, holes[i]), 8);
		buf_clear(&got);
		assert_int_equal(input_of_fd(&in, "x", fileno(f), (uint64_t)holes[i] + 6, &err), 0);
		assert_int_equal(input_start(in), start);
		assert_int_equal(drain(in, 100, &got, &err), 0);
		assert_int_equal(got.n, (uint64_t)holes[i] + 6 - start);
		assert_true(str_ends(buf_str(&got), STR("one\ntw")));
		input_close(in);
		/* nothing but zero bytes is no hole */
		assert_int_equal(ftruncate(fileno(f), 0), 0);
		assert_int_equal(ftruncate(fileno(f), 5000), 0);
		assert_int_equal(input_hole(fileno(f), 5000), 0);
		fclose(f);
	}
	buf_done(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_head_is_seen_and_then_read_again),
		cmocka_unit_test(compressed_bytes_and_streams_in_a_row_come_out_as_one),
		cmocka_unit_test(what_is_before_the_damage_is_delivered_first),
		cmocka_unit_test(a_file_tells_its_size_and_age_and_a_directory_is_refused),
		cmocka_unit_test(zero_bytes_that_a_cut_left_in_front_are_passed_over),
		cmocka_unit_test(an_open_file_is_read_from_its_start_up_to_a_place),
	};

	return RUN(tests);
}
