#include "infer/convolve/convolve.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "infer/convolve/emit.h"
#include "infer/convolve/follow.h"
#include "infer/convolve/traffic.h"
#include "model/loss.h"
#include "store/store.h"

/* Left to itself it takes the messages that say neither call nor return; when asked for, all. */
static int run(struct store *s, const struct infer_options *o, struct error *err)
{
	struct follow_options options = FOLLOW_DEFAULTS;
	bool asked = o->method && !strcmp(o->method, "convolution");
	struct traffic t = { 0 };
	struct followed f = { 0 };
	int r;

	if (o->method && !asked && strcmp(o->method, "auto"))
		return 0;
	r = traffic_read(&t, s, asked, err);
	if (r >= 0 && t.v.nr) {
		traffic_settle(&t);
		options.is_stopped = o->is_stopped;
		follow(&t, &options, &f);
		store_losses(s)->count[LOSS_ROUTES_SKIPPED] += f.nr_skipped;
		r = f.is_stopped ? error_set(err, EINTR, "stopped") : emit_chains(s, &t, err);
	}
	followed_done(&f);
	traffic_done(&t);
	return r < 0 ? r : 0;
}

const struct inference infer_convolve = {
	.name = "convolve",
	.summary = "requests from free-form messages: delays that recur tell what caused what",
	.run = run,
};
