#include "web/guard.h"

#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "web/asked.h"
#include "web/reply.h"

#define TOKEN_MIN 12

bool guard_can_use(const char *token)
{
	static const char unreserved[] = "0123456789-._~abcdefghijklmnopqrstuvwxyz"
					 "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	size_t n = strlen(token);

	return n >= TOKEN_MIN && n <= GUARD_TOKEN_MAX && strspn(token, unreserved) == n;
}

/* 127.1.2.3, all four of them: a name that merely begins so may be anybody's. */
static bool is_loopback_number(struct str name)
{
	uint64_t part = 0;

	if (!str_take(&name, STR("127")))
		return false;
	for (int i = 0; i < 3; i++)
		if (!str_take_char(&name, '.') || !str_take_uint(&name, &part) || part > 255)
			return false;
	return !name.n;
}

static bool is_own_name(const struct guard *g, struct str name)
{
	return str_eq_nocase(name, STR("localhost")) || is_loopback_number(name) ||
	       str_eq(name, STR("[::1]")) || (g->name && str_eq_nocase(name, str_of(g->name)));
}

/* "name:port", where the port may be left out when it is the usual one. */
static bool is_own_host(const struct guard *g, const char *host)
{
	struct str rest = str_of(host), name;
	size_t end;
	uint64_t port = g->is_tls ? 443 : 80;

	if (rest.n && rest.p[0] == '[') {
		end = str_find_char(rest, ']');
		end += end < rest.n;
	} else {
		end = str_find_char(rest, ':');
	}
	name = str_head(rest, end);
	rest = str_skip(rest, end);
	if (rest.n && (!str_take_char(&rest, ':') || !str_take_uint(&rest, &port) || rest.n))
		return false;
	return port == g->port && is_own_name(g, name);
}

/* An origin is a scheme and a host; it must be the one that was asked. */
static bool is_own_origin(const struct guard *g, const struct asked *a)
{
	struct str origin = str_of(a->origin);

	if (!a->origin)
		return true;
	return str_take(&origin, g->is_tls ? STR("https://") : STR("http://")) &&
	       str_eq_nocase(origin, str_of(a->host));
}

/* Links from other pages may lead to the page itself; nothing else may come from there. */
static bool is_own_site(const struct asked *a)
{
	if (!a->site || !strcmp(a->site, "same-origin") || !strcmp(a->site, "none"))
		return true;
	return !strcmp(a->path, "/");
}

/* Takes the same time wherever they differ; the length is no secret. */
static bool is_same(struct str a, struct str b)
{
	unsigned differ = 0;

	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		differ |= (unsigned char)a.p[i] ^ (unsigned char)b.p[i];
	return !differ;
}

/* Cookies are of a host, whatever the port: each server needs a name of its own. */
static void cookie_name(const struct guard *g, char *name, size_t room)
{
	snprintf(name, room, "culprit_token_%u=", g->port);
}

static struct str cookie_token(const struct guard *g, const char *cookie)
{
	struct str rest = str_of(cookie), value;
	char name[32];
	size_t end;

	cookie_name(g, name, sizeof(name));

	for (;;) {
		rest = str_trim(rest);
		end = str_find_char(rest, ';');
		value = str_head(rest, end);
		if (str_take(&value, str_of(name)))
			return value;
		if (end == rest.n)
			return (struct str){ 0 };
		rest = str_skip(rest, end + 1);
	}
}

static bool knows_token(const struct guard *g, const struct asked *a)
{
	struct str bearer = str_of(a->authorization), token = str_of(g->token);

	if (a->authorization && str_take(&bearer, STR("Bearer ")) && is_same(token, bearer))
		return true;
	return a->cookie && is_same(token, cookie_token(g, a->cookie));
}

/* A link with the token opens the page once; from then on a cookie carries it, so that it does not
 * stay in the address bar and in what people copy from there. It comes along when somebody follows
 * a link to the page (Lax), which is how findings are sent; is_own_site keeps all else out. */
static bool took_token(const struct guard *g, const struct asked *a, struct reply *r)
{
	const char *given = asked_param(a, "token");
	char name[32];

	if (!given || strcmp(a->path, "/") || !is_same(str_of(g->token), str_of(given)))
		return false;
	r->status = 303;
	r->type = "text/plain";
	snprintf(r->location, sizeof(r->location), "/");
	cookie_name(g, name, sizeof(name));
	snprintf(r->cookie, sizeof(r->cookie), "%s%s; HttpOnly;%s SameSite=Lax; Path=/", name,
		 g->token, g->is_tls ? " Secure;" : "");
	return true;
}

bool guard_lets_in(const struct guard *g, const struct asked *a, struct reply *r)
{
	if (!a->host) {
		reply_error(r, 400, "a Host header is missing");
		return false;
	}
	if (!g->token && !is_own_host(g, a->host)) {
		reply_error(r, 421, "this page is for this machine only: open it as localhost");
		return false;
	}
	if (!is_own_origin(g, a) || !is_own_site(a)) {
		reply_error(r, 403, "another page asked: only pages of this server may");
		return false;
	}
	if (g->token && took_token(g, a, r))
		return false;
	if (g->token && !knows_token(g, a)) {
		reply_error(r, 401, "open the link that culprit serve printed: it holds the token");
		return false;
	}
	return true;
}
