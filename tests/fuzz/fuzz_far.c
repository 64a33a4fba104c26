/* Messages of other hosts' agents, one behind another, each behind two bytes that say how long it
 * is; then every stream that there is now is asked for. And the kernel's lists of addresses. */
#include <stdlib.h>

#include "capture/weave/addresses.h"
#include "capture/weave/far_in.h"
#include "fuzz_source.h"
#include "lib/advice/promise.h"
#include "wire/handover.h"

static struct handover *table;

static void ask(struct far_in *f, uint64_t key, uint64_t from, uint64_t to)
{
	const struct bag_promise p = { key, from, to, 0 };
	struct bag_writer w;
	struct bag b;
	enum far_answer got;

	bag_begin(&b);
	bag_writer_begin(&w, (uint64_t)7 << 32);
	bag_promise(&b, &w, &p, 10);
	got = far_in_redeem(f, table, &b, 0, FAR_UNHEARD_NS / 2);
	must(bag_is_promised(&b) == (got != FAR_WHOLE && got != FAR_FOREIGN));
}

static void addresses(struct str text)
{
	struct str again = text;
	struct handover_address a;

	while (addresses_take_fib(&text, &a))
		must(a.low != 0);
	while (addresses_take_inet6(&again, &a))
		;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str s = { (const char *)data, size };
	struct far_in f = { 0 };

	table = table ? table : calloc(1, sizeof(*table));
	addresses(s);
	while (s.n > 2) {
		size_t n = (size_t)(unsigned char)s.p[0] << 8 | (unsigned char)s.p[1];
		struct str one = str_head(str_skip(s, 2), n);

		far_in_take(&f, one, 1);
		s = str_skip(s, 2 + one.n);
	}
	for (size_t i = 0; i < f.streams.nr; i++) {
		const struct far_stream *t = f.streams.v[i];

		must(t->from <= t->to);
		ask(&f, t->key, t->from, t->to);
		ask(&f, t->key, t->from, t->from + (t->to - t->from) / 2);
	}
	far_in_trim(&f, FAR_KEEP_NS * 4);
	far_in_done(&f);
	return 0;
}
