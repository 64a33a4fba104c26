#include "web/web.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/mem.h"
#include "web/ahead.h"
#include "web/answers.h"
#include "web/apart.h"
#include "web/api.h"
#include "web/asked.h"
#include "web/crowd.h"
#include "web/guard.h"
#include "web/reply.h"
#include "web/routes.h"
#include "web/runs.h"

/* Many more than the crowd lets be: those who come while others are on their way out, whose threads
 * may have to wait for a processor. */
#define CONNECTIONS_MAX 512
#define CROWD_MAX 96
#define ANSWERED_MAX 8
#define IDLE_S 15
#define READ_S 60 /* an answer that nobody reads */
#define ANSWERS_BYTES ((size_t)64 << 20)
#define PATH_BYTES_MAX 256

struct web {
	struct MHD_Daemon *daemon;
	struct api api;
	struct ahead *ahead;
	struct guard guard;
	struct crowd *crowd;
};

/* Everything comes from here, nothing is framed, nothing is guessed. */
static const char *const headers[][2] = {
	{ "Content-Security-Policy",
	  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
	  "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
	  "require-trusted-types-for 'script'; trusted-types 'none'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "X-Frame-Options", "DENY" },
	{ "Referrer-Policy", "no-referrer" },
	{ "Cross-Origin-Opener-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Permissions-Policy", "camera=(), geolocation=(), microphone=()" },
};

static enum MHD_Result add_param(void *to, enum MHD_ValueKind kind, const char *name,
				 size_t name_bytes, const char *value, size_t value_bytes)
{
	struct asked *a = to;

	(void)kind;
	a->has_zero |= strlen(name) != name_bytes || (value && strlen(value) != value_bytes);
	if (a->nr_params == ASKED_PARAMS_MAX) {
		a->has_too_many = true;
		return MHD_NO;
	}
	a->params[a->nr_params++] = (struct asked_param){ name, value ? value : "" };
	return MHD_YES;
}

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static void read_asked(struct asked *a, struct MHD_Connection *c, const char *method,
		       const char *path)
{
	*a = (struct asked){
		.method = method,
		.path = path,
		.host = header(c, "Host"),
		.origin = header(c, "Origin"),
		.site = header(c, "Sec-Fetch-Site"),
		.cookie = header(c, "Cookie"),
		.authorization = header(c, "Authorization"),
		.if_none_match = header(c, "If-None-Match"),
		.accept_encoding = header(c, "Accept-Encoding"),
	};
	MHD_get_connection_values_n(c, MHD_GET_ARGUMENT_KIND, add_param, a);
}

static void add_headers(struct MHD_Response *response, const struct reply *r, bool is_tls)
{
	for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
		MHD_add_response_header(response, headers[i][0], headers[i][1]);
	if (is_tls)
		MHD_add_response_header(response, "Strict-Transport-Security", "max-age=31536000");
	if (r->type)
		MHD_add_response_header(response, "Content-Type", r->type);
	if (r->is_packed)
		MHD_add_response_header(response, "Content-Encoding", "gzip");
	if (r->etag[0]) {
		MHD_add_response_header(response, "ETag", r->etag);
		MHD_add_response_header(response, "Vary", "Accept-Encoding");
	}
	MHD_add_response_header(response, "Cache-Control", r->etag[0] ? "no-cache" : "no-store");
	if (r->location[0])
		MHD_add_response_header(response, "Location", r->location);
	if (r->cookie[0])
		MHD_add_response_header(response, "Set-Cookie", r->cookie);
	if (r->disposition[0])
		MHD_add_response_header(response, "Content-Disposition", r->disposition);
}

static enum MHD_Result send_reply(struct MHD_Connection *c, struct reply *r, bool is_tls)
{
	struct MHD_Response *response;
	enum MHD_Result sent = MHD_NO;

	if (r->fixed.n) {
		response = MHD_create_response_from_buffer(r->fixed.n, (void *)r->fixed.p,
							   MHD_RESPMEM_PERSISTENT);
	} else if (r->file) {
		response = MHD_create_response_from_fd64(r->file_bytes, r->file);
		if (response)
			r->file = 0;
	} else {
		response = MHD_create_response_from_buffer(r->body.n, r->body.p,
							   MHD_RESPMEM_MUST_FREE);
		if (response)
			r->body = (struct buf){ 0 };
	}
	if (response) {
		add_headers(response, r, is_tls);
		sent = MHD_queue_response(c, r->status, response);
		MHD_destroy_response(response);
	}
	return sent;
}

/* Connections that come and go; runs are not held on to for nobody. */
static void on_connection(void *to, struct MHD_Connection *c, void **guest,
			  enum MHD_ConnectionNotificationCode what)
{
	struct web *w = to;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		const union MHD_ConnectionInfo *info =
			MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

		*guest = crowd_come(w->crowd, info ? info->connect_fd : -1);
	} else if (*guest && !crowd_leave(w->crowd, *guest)) {
		runs_rest(w->api.runs);
	}
}

static struct guest *guest_of(struct MHD_Connection *c)
{
	return MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void on_completed(void *to, struct MHD_Connection *c, void **state,
			 enum MHD_RequestTerminationCode how)
{
	struct web *w = to;

	(void)state;
	(void)how;
	crowd_end(w->crowd, guest_of(c));
	MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)IDLE_S);
}

/* False: nobody is there any more. */
static bool work(struct web *w, struct MHD_Connection *c, const struct asked *a, struct reply *r)
{
	if (!routes_is_work(a)) {
		routes_answer(&w->api, a, r);
		return true;
	}
	if (!crowd_wait(w->crowd, guest_of(c)))
		return false;
	routes_answer(&w->api, a, r);
	crowd_done(w->crowd);
	return true;
}

static bool is_over(void *to)
{
	return crowd_is_gone(to);
}

/* The library counts the time of a long answer as idle and would close before it is sent; a time
 * that is set anew where there was none begins with now. */
static enum MHD_Result reply_to(struct web *w, struct MHD_Connection *c, const struct asked *a)
{
	enum MHD_Result sent = MHD_NO;
	struct reply r = { 0 };
	bool is_there = true;

	MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, 0U);
	if (strlen(a->path) > PATH_BYTES_MAX)
		reply_error(&r, 414, "this path is too long");
	else if (guard_lets_in(&w->guard, a, &r))
		is_there = work(w, c, a, &r);
	MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, (unsigned)READ_S);
	if (is_there)
		sent = send_reply(c, &r, w->guard.is_tls);
	reply_done(&r);
	return sent;
}

static enum MHD_Result handle(void *to, struct MHD_Connection *c, const char *path,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_bytes, void **state)
{
	struct web *w = to;
	struct asked a;

	(void)version;
	(void)upload;
	/* called first with the headers only, then with the body, which nobody wants */
	if (!*state) {
		*state = w;
		crowd_begin(w->crowd, guest_of(c));
		return MHD_YES;
	}
	if (*upload_bytes) {
		*upload_bytes = 0;
		return MHD_YES;
	}
	read_asked(&a, c, method, path);
	a.is_over = is_over;
	a.over_to = guest_of(c);
	return reply_to(w, c, &a);
}

static int resolve(const struct web_options *o, struct sockaddr_storage *to, struct error *err)
{
	struct addrinfo want = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE }, *got = NULL;
	const char *host = o->host ? o->host : "127.0.0.1";
	int failed = getaddrinfo(host, NULL, &want, &got);

	if (failed)
		return error_set(err, EADDRNOTAVAIL, "cannot listen on '%s': %s", host,
				 gai_strerror(failed));
	memcpy(to, got->ai_addr, got->ai_addrlen);
	freeaddrinfo(got);
	if (to->ss_family == AF_INET6)
		((struct sockaddr_in6 *)to)->sin6_port = htons(o->port);
	else
		((struct sockaddr_in *)to)->sin_port = htons(o->port);
	return 0;
}

static bool is_loopback(const struct sockaddr_storage *a)
{
	if (a->ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)a)->sin6_addr);
	return ntohl(((const struct sockaddr_in *)a)->sin_addr.s_addr) >> 24 == 127;
}

static int check(const struct web_options *o, const struct sockaddr_storage *at, struct error *err)
{
	if (!o->cert != !o->key)
		return error_set(err, EINVAL, "TLS needs both a certificate and its key");
	if (o->token && !guard_can_use(o->token))
		return error_set(err, EINVAL,
				 "a token is 12 to %d letters, digits or -._~, so that nobody "
				 "guesses it and a link can hold it",
				 GUARD_TOKEN_MAX);
	if (!is_loopback(at) && (!o->cert || !o->token))
		return error_set(err, EINVAL,
				 "others can reach '%s': give --tls-cert and --tls-key, and a "
				 "token will be asked for; or listen on 127.0.0.1",
				 o->host);
	return 0;
}

static struct MHD_Daemon *start_daemon(struct web *w, const struct web_options *o,
				       struct sockaddr_storage *at)
{
	unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
			 MHD_USE_POLL | (at->ss_family == AF_INET6 ? MHD_USE_IPv6 : 0) |
			 (o->cert ? MHD_USE_TLS : 0);
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)o->cert },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)o->key },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0,
		  (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2" },
		{ MHD_OPTION_END, 0, NULL },
	};

	return MHD_start_daemon(flags, 0, NULL, NULL, handle, w, MHD_OPTION_SOCK_ADDR, at,
				MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
				MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
				MHD_OPTION_NOTIFY_CONNECTION, on_connection, w,
				MHD_OPTION_NOTIFY_COMPLETED, on_completed, w,
				MHD_OPTION_LISTENING_ADDRESS_REUSE, 1U, MHD_OPTION_ARRAY,
				o->cert ? tls : tls + 3, MHD_OPTION_END);
}

/* What the library leaves in errno tells of the socket, if of anything. */
static int cannot_start(const struct web_options *o, int code, struct error *err)
{
	bool is_socket = code == EADDRINUSE || code == EADDRNOTAVAIL || code == EACCES;

	if (o->cert && !is_socket)
		return error_set(err, EINVAL,
				 "the certificate cannot be used: it or its key is damaged, or the "
				 "key is that of another certificate");
	return error_set(err, code ? code : EINVAL, "cannot listen on %s:%u: %s",
			 o->host ? o->host : "127.0.0.1", o->port,
			 code ? strerror(code) : "the HTTP library refused");
}

int web_start(struct web **made, const struct web_options *o, struct runs *runs, struct error *err)
{
	struct sockaddr_storage at = { 0 };
	const union MHD_DaemonInfo *info;
	struct web *w;
	int r = resolve(o, &at, err);

	if (r >= 0)
		r = check(o, &at, err);
	if (r < 0)
		return r;
	w = mem_zalloc(sizeof(*w));
	w->api = (struct api){ runs, answers_new(ANSWERS_BYTES), o->version, apart_new() };
	w->guard = (struct guard){ o->token, o->cert != NULL, o->port, o->host };
	w->crowd = crowd_new(CROWD_MAX, ANSWERED_MAX);
	w->api.crowd = w->crowd;
	w->api.live = o->live;
	errno = 0;
	w->daemon = start_daemon(w, o, &at);
	if (!w->daemon) {
		r = cannot_start(o, errno, err);
		web_stop(w);
		return r;
	}
	info = MHD_get_daemon_info(w->daemon, MHD_DAEMON_INFO_BIND_PORT);
	w->guard.port = info ? info->port : o->port;
	w->ahead = ahead_start(&w->api);
	*made = w;
	return 0;
}

void web_stop(struct web *w)
{
	if (!w)
		return;
	apart_stop(w->api.apart);
	ahead_stop(w->ahead);
	if (w->daemon)
		MHD_stop_daemon(w->daemon);
	crowd_free(w->crowd);
	answers_free(w->api.answers);
	apart_free(w->api.apart);
	free(w);
}

uint16_t web_port(const struct web *w)
{
	return w->guard.port;
}
