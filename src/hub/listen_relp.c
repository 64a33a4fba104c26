/* RELP by librelp: it acknowledges a message when our callback returns, so the callback returns
 * when the message is on disk, and not before. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <librelp.h> /* does not include what it needs */

#include "base/error.h"
#include "base/mem.h"
#include "base/time.h"
#include "hub/hub.h"
#include "hub/listen_kind.h"
#include "model/mention_wire.h"

#define WAIT_NS (200 * NS_MS) /* until a full disk is tried again */

struct relp {
	struct hub *hub;
	relpEngine_t *engine;
	pthread_t thread;
	atomic_bool is_over, is_out;
	char trouble[256]; /* what librelp said last, until it runs */
};

static relpRetVal take(void *user, unsigned char *host, unsigned char *ip, unsigned char *message,
		       size_t n)
{
	struct relp *r = user;
	const struct timespec wait = { .tv_nsec = WAIT_NS };
	struct error err;

	(void)host;
	(void)ip;
	/* librelp acknowledges whatever is returned: it has to wait until there is room */
	while (hub_accept(r->hub, (struct str){ (char *)message, n }, true, &err) < 0) {
		if (atomic_load(&r->is_over))
			return RELP_RET_PARAM_ERROR;
		nanosleep(&wait, NULL);
	}
	return RELP_RET_OK;
}

static void say_nothing(char *fmt, ...)
{
	(void)fmt;
}

static void note_error(void *user, char *object, char *text, relpRetVal code)
{
	struct relp *r = user;

	(void)object;
	(void)code;
	if (r)
		snprintf(r->trouble, sizeof(r->trouble), "%s", text);
}

static void note_generic(char *object, char *text, relpRetVal code)
{
	(void)object;
	(void)text;
	(void)code;
}

static void *serve(void *ctx)
{
	struct relp *r = ctx;

	relpEngineRun(r->engine);
	atomic_store(&r->is_out, true);
	return NULL;
}

static relpRetVal make_tls(relpSrv_t *srv, const struct listen_tls *tls)
{
	relpRetVal bad = relpSrvEnableTLS2(srv);

	if (!bad)
		bad = relpSrvSetOwnCert(srv, (char *)tls->cert);
	if (!bad)
		bad = relpSrvSetPrivKey(srv, (char *)tls->key);
	if (!bad && tls->ca)
		bad = relpSrvSetCACert(srv, (char *)tls->ca);
	if (!bad && tls->ca)
		bad = relpSrvSetAuthMode(srv, (char *)"certvalid");
	return bad;
}

static relpRetVal make_server(struct relp *r, const struct listen_at *at,
			      const struct listen_tls *tls)
{
	relpSrv_t *srv = NULL;
	relpRetVal bad = relpEngineListnerConstruct(r->engine, &srv);

	if (!bad)
		bad = relpSrvSetLstnPort(srv, (unsigned char *)at->port);
	if (!bad && *at->host)
		bad = relpSrvSetLstnAddr(srv, (unsigned char *)at->host);
	if (!bad)
		bad = relpSrvSetUsrPtr(srv, r);
	if (!bad)
		bad = relpSrvSetMaxDataSize(srv, WIRE_BYTES_MAX + 1024);
	if (!bad)
		bad = relpSrvSetOversizeMode(srv, RELP_OVERSIZE_TRUNCATE);
	if (!bad && tls->cert)
		bad = make_tls(srv, tls);
	return bad ? bad : relpEngineListnerConstructFinalize(r->engine, srv);
}

static relpRetVal make_engine(struct relp *r)
{
	relpRetVal bad = relpEngineConstruct(&r->engine);

	if (!bad)
		bad = relpEngineSetDbgprint(r->engine, say_nothing);
	if (!bad)
		bad = relpEngineSetOnErr(r->engine, note_error);
	if (!bad)
		bad = relpEngineSetOnGenericErr(r->engine, note_generic);
	if (!bad)
		bad = relpEngineSetEnableCmd(r->engine, (unsigned char *)"syslog",
					     eRelpCmdState_Required);
	if (!bad)
		bad = relpEngineSetDnsLookupMode(r->engine, 0);
	return bad ? bad : relpEngineSetSyslogRcv2(r->engine, take);
}

static void wake_up(int signal)
{
	(void)signal;
}

static int start(void **state, struct hub *h, const struct listen_at *at,
		 const struct listen_tls *tls, struct error *err)
{
	const struct sigaction act = { .sa_handler = wake_up };
	struct relp *r = mem_zalloc(sizeof(*r));
	relpRetVal bad;

	r->hub = h;
	bad = make_engine(r);
	if (!bad)
		bad = make_server(r, at, tls);
	if (bad || pthread_create(&r->thread, NULL, serve, r)) {
		error_set(err, EADDRINUSE, "%s",
			  *r->trouble ? r->trouble : "RELP cannot listen there");
		if (r->engine)
			relpEngineDestruct(&r->engine);
		free(r);
		return -EADDRINUSE;
	}
	/* by which its thread is told that it is over, wherever it waits */
	sigaction(SIGUSR2, &act, NULL);
	*state = r;
	return 0;
}

static void stop(void *state)
{
	const struct timespec wait = { .tv_nsec = 10 * NS_MS };
	struct relp *r = state;

	atomic_store(&r->is_over, true);
	relpEngineSetStop(r->engine);
	while (!atomic_load(&r->is_out)) {
		pthread_kill(r->thread, SIGUSR2);
		nanosleep(&wait, NULL);
	}
	pthread_join(r->thread, NULL);
	relpEngineDestruct(&r->engine);
	free(r);
}

const struct listen_kind listen_relp = { "relp://", start, stop };
