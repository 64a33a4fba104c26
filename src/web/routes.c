#include "web/routes.h"

#include <stdio.h>
#include <string.h>

#include "web/api.h"
#include "web/asked.h"
#include "web/asset.h"
#include "web/download.h"
#include "web/reply.h"

struct route {
	const char *path;
	bool is_prefix;
	bool is_work;
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

static void asset_answer(const struct api *api, const struct asked *a, struct reply *r)
{
	const struct asset *it = find_asset(a->path);

	(void)api;
	if (!it) {
		reply_error(r, 404, "there is no such page");
		return;
	}
	r->type = it->type;
	snprintf(r->etag, sizeof(r->etag), "\"%s\"", it->etag);
	if (a->if_none_match && !strcmp(a->if_none_match, r->etag)) {
		r->status = 304;
		return;
	}
	if (!a->accept_encoding || !strstr(a->accept_encoding, "gzip")) {
		reply_error(r, 406, "the page is packed: ask with Accept-Encoding: gzip");
		return;
	}
	r->status = 200;
	r->fixed = (struct str){ (const char *)it->packed, it->bytes };
	r->is_packed = true;
}

/* The first that fits. */
static const struct route routes[] = {
	{ "/api/runs", false, false, api_runs },
	{ "/api/questions", false, false, api_questions },
	{ "/api/export", false, true, download_answer },
	{ "/api/", true, true, api_question },
	{ "/", true, false, asset_answer },
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

	if (strcmp(a->method, "GET") && strcmp(a->method, "HEAD"))
		reply_error(r, 405, "only GET is answered");
	else if (a->has_zero)
		reply_error(r, 400, "a parameter holds a zero byte");
	else if (!route)
		reply_error(r, 404, "there is no such page");
	else
		route->answer(api, a, r);
}
