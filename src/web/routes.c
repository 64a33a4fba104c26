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
	{ "/api/runs", false, api_runs },
	{ "/api/questions", false, api_questions },
	{ "/api/export", false, download_answer },
	{ "/api/", true, api_question },
	{ "/", true, asset_answer },
};

static bool fits(const struct route *route, const char *path)
{
	return route->is_prefix ? !strncmp(path, route->path, strlen(route->path))
				: !strcmp(path, route->path);
}

void routes_answer(const struct api *api, const struct asked *a, struct reply *r)
{
	if (strcmp(a->method, "GET") && strcmp(a->method, "HEAD")) {
		reply_error(r, 405, "only GET is answered");
		return;
	}
	for (size_t i = 0; i < sizeof(routes) / sizeof(*routes); i++)
		if (fits(&routes[i], a->path)) {
			routes[i].answer(api, a, r);
			return;
		}
	reply_error(r, 404, "there is no such page");
}
