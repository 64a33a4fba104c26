#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "model/loss.h"
#include "packets.h"
#include "source/input.h"
#include "source/pcap.h"

struct seen {
	unsigned nr, nr_names;
	int64_t first_ns, last_ns;
	uint32_t link, wire;
	size_t bytes;
	struct losses losses;
	char name[32];
};

static void take_name(void *to, struct str address, struct str name)
{
	struct seen *s = to;

	s->nr_names++;
	assert_true(address.n == 4 || address.n == 16);
	snprintf(s->name, sizeof(s->name), STR_FMT, STR_ARG(name));
}

static void read_all(struct seen *s, struct input *in)
{
	const struct pcap_names names = { s, take_name };
	struct error err = { 0 };
	struct pcap_frame f;
	struct pcap *p;

	if (pcap_file_open(&p, in, &names, &s->losses, &err) < 0)
		fail_msg("%s", err.msg);
	while (pcap_file_next(p, &f, &err) > 0) {
		s->first_ns = s->nr++ ? s->first_ns : f.ns;
		s->last_ns = f.ns;
		s->link = f.link;
		s->wire = f.wire_bytes;
		s->bytes = f.bytes.n;
		assert_int_equal(f.number, s->nr);
	}
	pcap_file_close(p);
}

static struct seen read_bytes(struct str bytes)
{
	struct seen s = { 0 };
	struct input *in;
	struct error err = { 0 };

	assert_int_equal(input_of_bytes(&in, "bytes", bytes, &err), 0);
	read_all(&s, in);
	input_close(in);
	return s;
}

static void put(struct buf *b, bool is_big, uint64_t v, unsigned n)
{
	if (is_big)
		put_be(b, v, n);
	else
		put_le(b, v, n);
}

static void both_orders_and_both_units_of_time_are_read(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		bool is_big = i & 1, is_ns = i & 2;
		struct buf b = { 0 };
		struct seen s;

		put(&b, is_big, is_ns ? 0xa1b23c4d : 0xa1b2c3d4, 4);
		put(&b, is_big, 0x0002, 2);
		put(&b, is_big, 0x0004, 2);
		put(&b, is_big, 0, 8);
		put(&b, is_big, 65535, 4);
		put(&b, is_big, 113, 4);
		put(&b, is_big, 7, 4);
		put(&b, is_big, 8, 4);
		put(&b, is_big, 3, 4);
		put(&b, is_big, 60, 4);
		buf_add(&b, STR("abc"));
		s = read_bytes(buf_str(&b));
		assert_int_equal(s.nr, 1);
		assert_int_equal(s.last_ns, 7 * NS_S + (is_ns ? 8 : 8000));
		assert_true(s.link == 113 && s.bytes == 3 && s.wire == 60);
		buf_done(&b);
	}
}

static void a_damaged_record_does_not_hide_the_next(void **state)
{
	struct packets p = packets_begin(80);
	struct seen s;
	size_t at;

	(void)state;
	packets_open(&p);
	at = p.file.n;
	for (unsigned i = 0; i < 5; i++)
		packets_say(&p, 0, STR("something to say"));
	memset(p.file.p + at, 0xff, 16);
	s = read_bytes(buf_str(&p.file));
	assert_int_equal(s.nr, 2 + 4);
	assert_int_equal(s.losses.count[LOSS_PACKETS_BROKEN], 1);
	buf_done(&p.file);
}

static void a_file_that_ends_early_is_read_up_to_there(void **state)
{
	struct packets p = packets_begin(80);
	struct seen s;

	(void)state;
	packets_open(&p);
	packets_say(&p, 0, STR("something to say"));
	s = read_bytes(str_head(buf_str(&p.file), p.file.n - 5));
	assert_int_equal(s.nr, 2);
	assert_int_equal(s.losses.count[LOSS_FILES_CUT], 1);
	buf_done(&p.file);
}

static void what_is_no_capture_is_refused(void **state)
{
	struct losses losses = { 0 };
	struct error err = { 0 };
	struct input *in;
	struct pcap *p;

	(void)state;
	assert_false(pcap_file_is(STR("")));
	assert_false(pcap_file_is(STR("2026-11-15 10:00:00 INFO this is a log and no capture")));
	assert_int_equal(
		input_of_bytes(&in, "x", STR("GET / HTTP/1.1 and so on, for a while"), &err), 0);
	assert_true(pcap_file_open(&p, in, NULL, &losses, &err) < 0);
	assert_true(err.msg[0]);
	input_close(in);
}

/* A block of pcapng around a body. */
static void put_block(struct buf *b, uint32_t type, struct str body)
{
	size_t pad = (4 - body.n % 4) % 4;

	put_le(b, type, 4);
	put_le(b, 12 + body.n + pad, 4);
	buf_add(b, body);
	put_le(b, 0, (unsigned)pad);
	put_le(b, 12 + body.n + pad, 4);
}

static void put_section(struct buf *b)
{
	struct buf body = { 0 };

	put_le(&body, 0x1a2b3c4d, 4);
	put_le(&body, 1, 4);
	put_le(&body, UINT64_MAX, 8);
	put_block(b, 0x0a0d0d0a, buf_str(&body));
	buf_done(&body);
}

/* Resolution as the option writes it, and an offset in seconds. */
static void put_interface(struct buf *b, unsigned link, unsigned resolution, uint64_t offset_s)
{
	struct buf body = { 0 };

	put_le(&body, link, 2);
	put_le(&body, 0, 2);
	put_le(&body, 0, 4);
	put_le(&body, 9, 2);
	put_le(&body, 1, 2);
	put_le(&body, resolution, 4);
	put_le(&body, 14, 2);
	put_le(&body, 8, 2);
	put_le(&body, offset_s, 8);
	put_le(&body, 0, 4);
	put_block(b, 1, buf_str(&body));
	buf_done(&body);
}

static void put_packet(struct buf *b, uint32_t interface, uint64_t stamp, struct str bytes)
{
	struct buf body = { 0 };

	put_le(&body, interface, 4);
	put_le(&body, stamp >> 32, 4);
	put_le(&body, stamp & 0xffffffff, 4);
	put_le(&body, bytes.n, 4);
	put_le(&body, bytes.n, 4);
	buf_add(&body, bytes);
	put_block(b, 6, buf_str(&body));
	buf_done(&body);
}

static void every_interface_has_its_own_clock_and_link(void **state)
{
	struct buf b = { 0 };
	struct seen s;

	(void)state;
	put_section(&b);
	put_interface(&b, 1, 3, 0);
	put_interface(&b, 276, 0x80 | 10, 100);
	put_packet(&b, 0, 5000, STR("abc"));
	s = read_bytes(buf_str(&b));
	assert_int_equal(s.last_ns, 5 * NS_S);
	assert_int_equal(s.link, 1);
	put_packet(&b, 1, 512, STR("abc"));
	s = read_bytes(buf_str(&b));
	assert_int_equal(s.last_ns, 100 * NS_S + NS_S / 2);
	assert_int_equal(s.link, 276);
	put_packet(&b, 2, 512, STR("of no interface"));
	s = read_bytes(buf_str(&b));
	assert_int_equal(s.nr, 2);
	assert_int_equal(s.losses.count[LOSS_PACKETS_BROKEN], 1);
	put_section(&b); /* which forgets the interfaces */
	put_packet(&b, 0, 512, STR("abc"));
	s = read_bytes(buf_str(&b));
	assert_int_equal(s.nr, 2);
	buf_done(&b);
}

static void a_damaged_block_does_not_hide_the_next(void **state)
{
	struct buf b = { 0 };
	struct seen s;
	size_t at;

	(void)state;
	put_section(&b);
	put_interface(&b, 1, 6, 0);
	at = b.n;
	put_packet(&b, 0, 1, STR("first"));
	put_packet(&b, 0, 2, STR("second"));
	b.p[at + 4] = (char)0x18;
	s = read_bytes(buf_str(&b));
	assert_int_equal(s.nr, 1);
	assert_int_equal(s.last_ns, 2000);
	assert_int_equal(s.losses.count[LOSS_PACKETS_BROKEN], 1);
	buf_done(&b);
}

static void names_in_the_capture_are_told(void **state)
{
	struct buf b = { 0 }, body = { 0 };
	struct seen s;

	(void)state;
	put_section(&b);
	put_le(&body, 1, 2);
	put_le(&body, 9, 2);
	buf_add(&body, (struct str){ "\x0a\0\0\5db-1\0\0\0\0", 12 });
	put_le(&body, 0, 4);
	put_block(&b, 4, buf_str(&body));
	s = read_bytes(buf_str(&b));
	assert_int_equal(s.nr_names, 1);
	assert_string_equal(s.name, "db-1");
	buf_done(&b);
	buf_done(&body);
}

/* "	EPB: 4" in the text beside a file of the conformance set: how many packets it holds. */
static unsigned packets_told(FILE *text)
{
	char line[256], kind[16];
	unsigned nr, sum = 0;

	while (fgets(line, sizeof(line), text) && strncmp(line, "Block sequence", 14) != 0)
		if (sscanf(line, " %15[A-Z]: %u", kind, &nr) == 2 &&
		    (!strcmp(kind, "EPB") || !strcmp(kind, "SPB") || !strcmp(kind, "PB")))
			sum += nr;
	return sum;
}

static void the_conformance_files_hold_what_their_texts_say(void **state)
{
	static const char *const sets[] = { "basic", "advanced", "difficult" };
	const char *data = getenv("CULPRIT_DATA");
	unsigned nr_files = 0;

	(void)state;
	for (unsigned i = 0; i < 2 * 3 * 300; i++) {
		char path[4096], base[3072];
		struct seen s = { 0 };
		struct error err = { 0 };
		struct input *in;
		FILE *text;

		if (data)
			snprintf(base, sizeof(base), "%s", data);
		else
			snprintf(base, sizeof(base), "%.*s/../../../shared/data",
				 (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__);
		snprintf(path, sizeof(path), "%s/pcapng/output_%s/%s/test%03u.txt", base,
			 i % 2 ? "be" : "le", sets[i / 2 % 3], i / 6);
		text = fopen(path, "r");
		if (!text)
			continue;
		memcpy(strrchr(path, '.'), ".pcapng", 8);
		assert_int_equal(input_open(&in, path, &err), 0);
		read_all(&s, in);
		if (s.nr != packets_told(text) || s.losses.count[LOSS_PACKETS_BROKEN])
			fail_msg("%s: %u packets", path, s.nr);
		input_close(in);
		fclose(text);
		nr_files++;
	}
	if (!nr_files)
		print_message("[  SKIPPED ] no pcapng data beside the project\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_orders_and_both_units_of_time_are_read),
		cmocka_unit_test(a_damaged_record_does_not_hide_the_next),
		cmocka_unit_test(a_file_that_ends_early_is_read_up_to_there),
		cmocka_unit_test(what_is_no_capture_is_refused),
		cmocka_unit_test(every_interface_has_its_own_clock_and_link),
		cmocka_unit_test(a_damaged_block_does_not_hide_the_next),
		cmocka_unit_test(names_in_the_capture_are_told),
		cmocka_unit_test(the_conformance_files_hold_what_their_texts_say),
	};

	return RUN(tests);
}
