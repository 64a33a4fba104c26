#include "capture/capture.h"

#include "base/error.h"

int capture_ready(const struct capture *c, struct capture_state *s, struct error *err)
{
	*s = (struct capture_state){ .began = time_tick() };
	return c->ready ? c->ready(c->to, err) : 0;
}

/* May be negative. */
static int64_t left_ns(const struct capture *c, const struct capture_state *s)
{
	return c->limits.for_ns - (time_tick() - s->began);
}

bool capture_is_over(const struct capture *c, const struct capture_state *s)
{
	if (c->limits.nr_max && s->seen.nr_seen >= c->limits.nr_max)
		return true;
	if (c->limits.for_ns && left_ns(c, s) <= 0)
		return true;
	return c->is_stopped && c->is_stopped(c->to);
}

void capture_tell(const struct capture *c, const struct capture_state *s)
{
	if (c->tell)
		c->tell(c->to, &s->seen);
}

int64_t capture_wait_ns(const struct capture *c, const struct capture_state *s)
{
	int64_t left = c->limits.for_ns ? left_ns(c, s) : CAPTURE_LOOK_NS;

	return left < 0 ? 0 : left < CAPTURE_LOOK_NS ? left : CAPTURE_LOOK_NS;
}
