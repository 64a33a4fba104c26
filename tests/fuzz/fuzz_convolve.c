/* Any messages: causes are found or not, but no message is its own cause, precedes it, or was sent
 * by another than who got the cause. */
#include <assert.h>

#include "infer/convolve/follow.h"

/* Three bytes a message: who to whom, and the time since the one before, whose unit the first byte
 * of the input tells. */
static void fill(struct traffic *t, const uint8_t *data, size_t size)
{
	static const char names[] = "ABCDEFGHIJKLMNOP";
	int64_t ns = 0, unit = (int64_t)1 << (data[0] & 47);

	for (size_t i = 1; i + 3 <= size && i < 30000; i += 3) {
		struct str from = { names + (data[i] >> 4), 1 }, to = { names + (data[i] & 15), 1 };
		int64_t step = (int64_t)(data[i + 1] | data[i + 2] << 8) * unit;

		if (__builtin_add_overflow(ns, data[i + 2] == 255 ? -step : step, &ns))
			ns = INT64_MIN + 1;
		traffic_add(t, from, to, ns, i);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct follow_options o = FOLLOW_DEFAULTS;
	struct traffic t = { 0 };
	struct followed f = { 0 };

	if (!size)
		return 0;
	fill(&t, data, size);
	if (!t.v.nr)
		return 0;
	traffic_settle(&t);
	/* coarse, so that an input takes no longer than it must */
	o.quantum_ns = (t.last_ns / 2 - t.first_ns / 2) / 512 + 1;
	follow(&t, &o, &f);
	vec_each (&t.v, m) {
		if (m->cause == SENT_NONE)
			continue;
		assert(m->placed && m->cause < t.v.nr && t.v.v[m->cause].placed);
		assert(m->ns >= t.v.v[m->cause].ns);
		assert(t.routes.v[t.v.v[m->cause].route].to == t.routes.v[m->route].from);
		assert(m->confidence >= 0 && m->confidence <= 1);
	}
	followed_done(&f);
	traffic_done(&t);
	return 0;
}
