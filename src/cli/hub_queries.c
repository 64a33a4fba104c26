#include "cli/hub_queries.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/time.h"
#include "bus/hub.h"
#include "bus/keys.h"
#include "cli/command.h"
#include "cli/live_metrics.h"
#include "cli/option.h"
#include "cli/say.h"
#include "cli/stopping.h"

#define POLL_MS 200
#define TENANT "default"

/* --- keys ---------------------------------------------------------------------------------- */

/* "agent:NAME@TENANT" */
static int grant(const char *dir, const char *text, struct error *err)
{
	struct arena arena = { 0 };
	struct str rest = str_of(text), role_name, name;
	enum bus_role role;
	size_t at;
	int r;

	if (!str_take_until(&rest, ':', &role_name) || !bus_role_find(role_name, &role))
		return error_set(err, EINVAL,
				 "--grant '%s': write agent:NAME, operator:NAME or hub:NAME, and "
				 "@TENANT behind it where there are several",
				 text);
	at = str_find_char(rest, '@');
	name = str_head(rest, at);
	rest = str_skip(rest, at + 1);
	r = keys_grant(dir, role, arena_z(&arena, name), rest.n ? arena_z(&arena, rest) : TENANT,
		       err);
	if (!r)
		printf("%s/" STR_FMT ".key: bring it to its host and keep it secret\n", dir,
		       STR_ARG(name));
	arena_done(&arena);
	return r;
}

int hub_keys(const struct call *call)
{
	const char *dir = call_get(call, "keys");
	struct error err = { 0 };
	int r = keys_make_hub(dir, &err);

	if (!r && call_has(call, "grant"))
		r = grant(dir, call_get(call, "grant"), &err);
	if (!r && call_has(call, "revoke"))
		r = keys_revoke(dir, call_get(call, "revoke"), &err);
	if (r < 0)
		say_error("%s", err.msg);
	return r < 0 ? EXIT_CANNOT : EXIT_ANSWERED;
}

/* --- the hub ------------------------------------------------------------------------------- */

/* "queries=8,advice=64,rows=1000,seconds=60", any of them. */
static int take_limits(const char *text, struct bus_limits *l, struct error *err)
{
	struct str rest = str_of(text ? text : "");

	while (rest.n) {
		size_t comma = str_find_char(rest, ',');
		struct str one = str_head(rest, comma), key;
		uint64_t *to = NULL;

		rest = str_skip(rest, comma + 1);
		if (str_take_until(&one, '=', &key))
			to = str_eq(key, STR("queries"))   ? &l->queries
			     : str_eq(key, STR("advice"))  ? &l->advice
			     : str_eq(key, STR("rows"))    ? &l->rows
			     : str_eq(key, STR("seconds")) ? &l->seconds
							   : NULL;
		if (!to || !str_take_uint(&one, to) || one.n || !*to)
			return error_set(err, EINVAL,
					 "--limits '%s': write it like "
					 "queries=8,advice=64,rows=1000,seconds=60",
					 text);
	}
	return 0;
}

static int load(const struct call *call, const char *option, struct bus_keys **k, struct error *err)
{
	return call_has(call, option) ? bus_keys_load(k, call_get(call, option), err) : 0;
}

static void run(struct bus_hub *h, int64_t for_ns)
{
	int64_t began = time_tick();
	char said[sizeof(((struct error *)NULL)->msg)] = "";
	struct error err = { 0 };

	while (!stopping_is_told() && time_tick() - began < for_ns) {
		int r = bus_hub_poll(h, POLL_MS, &err);

		/* a full disk is told once, not five times a second */
		if (r < 0 && strcmp(said, err.msg) != 0) {
			say_error("%s (tried again)", err.msg);
			memcpy(said, err.msg, sizeof(said));
		} else if (r >= 0) {
			said[0] = 0;
		}
	}
}

int hub_queries(const struct call *call)
{
	char host[BUS_NAME_MAX + 1] = "", listen[64];
	struct bus_keys *keys = NULL, *above = NULL;
	struct bus_hub_options o = { .parent = call_get(call, "parent"),
				     .name = call_get(call, "name"),
				     .state = call_get(call, "state"),
				     .listen = call_get(call, "listen") };
	int64_t for_ns = INT64_MAX;
	struct live_metrics *metrics = NULL;
	struct bus_hub *h = NULL;
	struct error err = { 0 };
	int r = option_time(call, "for", &for_ns, &err);

	snprintf(listen, sizeof(listen), "127.0.0.1:%d", BUS_PORT);
	gethostname(host, sizeof(host) - 1);
	o.listen = o.listen ? o.listen : listen;
	o.name = o.name ? o.name : host;
	o.state = o.state ? o.state : "queries.hub";
	if (r >= 0)
		r = take_limits(call_get(call, "limits"), &o.limits, &err);
	if (r >= 0)
		r = load(call, "keys", &keys, &err);
	if (r >= 0)
		r = load(call, "parent-key", &above, &err);
	o.keys = keys;
	o.parent_keys = above;
	stopping_catch();
	if (r >= 0)
		r = bus_hub_open(&h, &o, &err);
	if (r >= 0 && call_has(call, "metrics"))
		r = live_metrics_start(&metrics, call_get(call, "metrics"), o.listen,
				       call_get(call, "metrics-keys"), &err);
	if (r >= 0)
		run(h, for_ns);
	else
		say_error("%s", err.msg);
	live_metrics_stop(metrics);
	bus_hub_close(h);
	bus_keys_free(keys);
	bus_keys_free(above);
	return r < 0 ? EXIT_CANNOT : EXIT_ANSWERED;
}
