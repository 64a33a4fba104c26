/*
 * Servers are stripped: only what they export to their modules has a name. So each interval is told
 * by exported functions, and tests/unit/test_preset.c looks whether those of this machine have
 * them.
 */
#include "capture/probe/preset.h"

#include <errno.h>

#include "base/buf.h"
#include "base/error.h"
#include "capture/probe/spec.h"

static const char *const none[] = { NULL };

/* The functions that a backend calls itself, from one message of its client to the next. */
static const char *const postgresql_roots[] = { "pg_parse_query",
						"pg_analyze_and_rewrite",
						"pg_analyze_and_rewrite_fixedparams",
						"pg_analyze_and_rewrite_varparams",
						"pg_plan_queries",
						"CreatePortal",
						"PortalDefineQuery",
						"PortalStart",
						"PortalRun",
						"PortalDrop",
						"GetCachedPlan",
						"StartTransactionCommand",
						"CommitTransactionCommand",
						"AbortCurrentTransaction",
						"CommandCounterIncrement",
						"EndCommand",
						"ReadyForQuery",
						"pq_getbyte",
						"pq_getmessage",
						NULL };
static const char *const postgresql_hot[] = { "palloc",
					      "palloc0",
					      "pfree",
					      "repalloc",
					      "MemoryContextAlloc",
					      "MemoryContextAllocZero",
					      "MemoryContextAllocZeroAligned",
					      "AllocSetContextCreateInternal",
					      "hash_search_with_hash_value",
					      "new_list",
					      "lappend",
					      NULL };

/* What a command did with how many rows stands behind its tag (QueryCompletion). */
static const char *const postgresql_works[] = { "EndCommand(rows=*(arg0+8))", NULL };
/* One packet for each row that a client gets. */
static const char *const mariadb_works[] = { "my_net_write(bytes=arg2)", NULL };

static const char *const mariadb_hot[] = { "alloc_root",   "my_malloc",      "my_free",
					   "my_hash_sort", "_my_thread_var", "_current_thd",
					   "memdup_root",  "strmake_root",   NULL };

static const char *const apache_hot[] = { "apr_palloc", "apr_pstrdup", "apr_table_get",
					  "apr_table_setn", NULL };

/* A request waits for its client or for another server between events; who goes on with it is told
 * by the request, or by the event, which points to a connection, and that to the request. The last
 * two have names only where the server is not stripped. */
static const char *const nginx_carries[] = {
	"ngx_http_core_run_phases(request=arg0)",    "ngx_http_finalize_request(request=arg0)",
	"ngx_http_output_filter(request=arg0)",      "ngx_http_request_handler(request=**arg0)",
	"ngx_http_upstream_handler(request=**arg0)", NULL
};
static const char *const nginx_roots[] = { "ngx_http_process_request",
					   "ngx_http_core_run_phases",
					   "ngx_http_output_filter",
					   "ngx_http_finalize_request",
					   "ngx_http_run_posted_requests",
					   "ngx_http_upstream_init",
					   NULL };
static const char *const nginx_hot[] = { "ngx_palloc", "ngx_pnalloc", "ngx_pcalloc", "ngx_alloc",
					 NULL };

static const char *const redis_hot[] = {
	"zmalloc", "zfree", "zcalloc", "zrealloc", "sdsfree", "decrRefCount", "dictGenHashFunction",
	NULL
};

/* What lib/culprit/interval.h leaves in a program. */
static const char *const libculprit_carries[] = { "usdt:culprit:carry(id=arg0)", NULL };

static const struct preset presets[] = {
	{
		.name = "postgresql",
		.summary = "a transaction, from its start to the end of its commit or abort",
		.checked = "PostgreSQL 15.18 of Debian 12",
		.follows = true,
		.interval = "AtStart_GUC .. AtEOXact_PgStat",
		.carries = none,
		.roots = postgresql_roots,
		.works = postgresql_works,
		.hot = postgresql_hot,
	},
	{
		.name = "postgresql-query",
		.summary = "a message of a client, from its arrival until the server is ready for "
			   "the next",
		.checked = "PostgreSQL 15.18 of Debian 12",
		.follows = true,
		.interval = "SetCurrentStatementStartTimestamp .. ReadyForQuery",
		.carries = none,
		.roots = postgresql_roots,
		.works = postgresql_works,
		.hot = postgresql_hot,
	},
	{
		.name = "mariadb",
		.summary = "a command of a client, from when it was read until it is answered",
		.checked = "MariaDB 10.11.19 of Debian 12",
		.interval = "dispatch_command",
		.carries = none,
		.roots = none,
		.works = mariadb_works,
		.hot = mariadb_hot,
	},
	{
		.name = "apache",
		.summary = "a request, from when its header was read until it is answered",
		.checked = "Apache 2.4.71 of Debian 12",
		.follows = true,
		.interval = "ap_process_async_request",
		.carries = none,
		.roots = none,
		.hot = apache_hot,
	},
	{
		.name = "nginx",
		.summary = "a request, from when its header was read until it is answered and "
			   "logged",
		.checked = "nginx 1.22.1 of Debian 12",
		.follows = true,
		.interval = "ngx_http_process_request(request=arg0) .. "
			    "ngx_http_free_request(request=arg0)",
		.carries = nginx_carries,
		.roots = nginx_roots,
		.hot = nginx_hot,
	},
	{
		.name = "redis",
		.summary = "a command",
		.checked = "Redis 7.0.15 of Debian 12",
		.interval = "processCommand",
		.carries = none,
		.roots = none,
		.hot = redis_hot,
	},
	{
		.name = "libculprit",
		.summary = "what the program itself marks (culprit-interval(3))",
		.checked = "this release",
		.follows = true,
		.interval = "usdt:culprit:begin(id=arg0) .. usdt:culprit:end(id=arg0)",
		.carries = libculprit_carries,
		.roots = none,
		.hot = none,
	},
};

const struct preset *preset_at(size_t i)
{
	return i < sizeof(presets) / sizeof(presets[0]) ? &presets[i] : NULL;
}

const struct preset *preset_find(struct str name)
{
	const struct preset *p;

	for (size_t i = 0; (p = preset_at(i)); i++)
		if (str_eq_nocase(str_of(p->name), name))
			return p;
	return NULL;
}

static int add_optional(enum spec_option option, const char *const *texts,
			struct interval_specs *to, struct error *err)
{
	int r = 0;

	for (size_t i = 0; !r && texts && texts[i]; i++) {
		r = specs_add(to, option, str_of(texts[i]), err);
		if (!r)
			to->v.v[to->v.nr - 1].is_optional = true;
	}
	return r;
}

int preset_specs(const struct preset *p, struct interval_specs *to, struct error *err)
{
	int r = specs_add(to, SPEC_OF_INTERVAL, str_of(p->interval), err);

	return r ? r : add_optional(SPEC_OF_CARRY, p->carries, to, err);
}

int preset_works(const struct preset *p, struct interval_specs *to, struct error *err)
{
	return add_optional(SPEC_OF_WORK, p->works, to, err);
}

int preset_missing(struct str name, struct error *err)
{
	const struct preset *p;
	struct buf names = { 0 };
	int r;

	for (size_t i = 0; (p = preset_at(i)); i++)
		buf_fmt(&names, "%s%s", !i ? "" : preset_at(i + 1) ? ", " : " and ", p->name);
	r = error_set(err, EINVAL, "no preset '" STR_FMT "': there are " STR_FMT,
		      STR_ARG(str_head(name, 100)), STR_ARG(buf_str(&names)));
	buf_done(&names);
	return r;
}
