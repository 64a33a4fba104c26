#include "web/routes.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/inflate.h"
#include "web/api.h"
#include "web/asked.h"
#include "web/asset.h"
#include "web/download.h"
#include "web/live.h"
#include "web/reply.h"

struct route {
	const char *path;
	bool is_prefix;
	bool is_work;
	bool is_change; /* of something: POST, which no link and no picture can ask for */
	void (*answer)(const struct api *api, const struct asked *a, struct reply *r);
};

static const struct asset *find_asset(const char *path)
{
	if (!strcmp(path, "/"))
		path = "/index.html";
	for (const struct asset *it = assets; it->path; it++)
		if (!strcmp(it->path, path))
			return it;
	return NULL;
}

/* Browsers take it packed; who merely looks at the server with another tool need not. */
static bool unpack(const struct asset *it, struct buf *to)
{
	struct str packed = { (const char *)it->packed, it->bytes };
	struct inflate *z = NULL;
	struct error err;
	char bytes[1 << 14];
	ssize_t n = inflate_of_bytes(&z, packed, &err);

	while (n >= 0 && (n = inflate_read(z, bytes, sizeof(bytes), &err)) > 0)
		buf_add(to, (struct str){ bytes, (size_t)n });
	inflate_free(z);
	return n >= 0;
}

static bool takes_gzip(const struct asked *a)
{
	const char *at = a->accept_encoding ? strstr(a->accept_encoding, "gzip") : NULL;

	return at && strncmp(at, "gzip;q=0", 8) != 0;
}

static void asset_answer(const struct api *api, const struct asked *a, struct reply *r)
{
	const struct asset *it = find_asset(a->path);

	(void)api;
	if (!it) {
		reply_error(r, 404, "there is no such page");
		return;
	}
	r->type = it->type;
	snprintf(r->etag, sizeof(r->etag), "\"%s%s\"", it->etag, takes_gzip(a) ? "" : "-plain");
	if (a->if_none_match && !strcmp(a->if_none_match, r->etag)) {
		r->status = 304;
		return;
	}
	r->status = 200;
	if (!takes_gzip(a) && unpack(it, &r->body))
		return;
	r->fixed = (struct str){ (const char *)it->packed, it->bytes };
	r->is_packed = true;
}

/* The first that fits. */
static const struct route routes[] = {
	{ "/api/runs", false, false, false, api_runs },
	{ "/api/questions", false, false, false, api_questions },
	{ "/api/export", false, true, false, download_answer },
	{ "/api/live", false, false, false, live_state },
	{ "/api/live/answer", false, true, false, live_rows },
	{ "/api/live/words", false, false, false, live_words },
	{ "/api/live/explain", false, false, false, live_explain },
	{ "/api/live/measure", false, true, true, live_measure },
	{ "/api/live/install", false, false, true, live_install },
	{ "/api/live/remove", false, false, true, live_remove },
	{ "/metrics", false, true, false, live_metrics },
	{ "/api/", true, true, false, api_question },
	{ "/", true, false, false, asset_answer },
};

static bool fits(const struct route *route, const char *path)
{
	return route->is_prefix ? !strncmp(path, route->path, strlen(route->path))
				: !strcmp(path, route->path);
}

static const struct route *find_route(const char *path)
{
	for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++)
		if (fits(&routes[i], path))
			return &routes[i];
	return NULL;
}

bool routes_is_work(const struct asked *a)
{
	const struct route *route = find_route(a->path);

	return route && route->is_work;
}

void routes_answer(const struct api *api, const struct asked *a, struct reply *r)
{
	const struct route *route = find_route(a->path);
	bool is_get = !strcmp(a->method, "GET") || !strcmp(a->method, "HEAD");

	if (route && route->is_change && strcmp(a->method, "POST"))
		reply_error(r, 405, "this changes something: only POST is answered");
	else if (!is_get && !(route && route->is_change))
		reply_error(r, 405, "only GET is answered");
	else if (a->has_zero)
		reply_error(r, 400, "a parameter holds a zero byte");
	else if (!route)
		reply_error(r, 404, "there is no such page");
	else
		route->answer(api, a, r);
}
