#include "source/layout_catalogue.h"

#include "base/arena.h"
#include "model/event.h"
#include "model/loss.h"
#include "source/layout_fields.h"
#include "source/layout_kind.h"
#include "source/layout_pattern.h"

/* Only what learning would get wrong; everything else it finds by itself. */
static const struct {
	const char *of, *pattern;
} catalogue[] = {
	{ "glog, klog", "%.1p%d %t %F:%L] %m" },
	{ "Rails", "%.1p, [%d #%pid] %p -- %skip: %m" },
	{ "Redis", "%pid:%skip %d %m" },
	{ "Spring Boot with application and ids", "%d %p %pid --- [%skip] [%t] [%ids] %c : %m" },
	{ "Spring Boot with application", "%d %p %pid --- [%skip] [%t] %c : %m" },
	{ "Spring Cloud Sleuth", "%d %p [%ids] %pid --- [%t] %c : %m" },
	{ "ZooKeeper", "%d [myid:%skip] - %p [%t:%c@%L] - %m" },
	{ "ZooKeeper before 3.5", "%d - %p [%t:%c@%L] - %m" },
	{ "MySQL 8", "%d %pid [%p] [%skip] [%c] %m" },
	{ "MariaDB", "%d %pid [%p] %m" },
	{ "nginx error", "%d [%p] %pid#%t: %m" },
	{ "Apache error", "[%d] [%c:%p] [pid %pid:tid %t] %m" },
	{ "Apache error without threads", "[%d] [%c:%p] [pid %pid] %m" },
	{ "Apache 2.2 error", "[%d] [%p] [client %skip] %m" },
	{ "Laravel", "[%d] %c.%p: %m" },
	{ "JBoss", "%d %p [%c] (%t) %m" },
	{ "PostgreSQL of RDS", "%d:%skip:%skip:[%pid]:%p: %m" },
	{ "PostgreSQL as pgBadger wants it", "%d [%pid]: [%skip] user=%skip %p: %m" },
	{ "MongoDB before 4.4", "%d %p %c [%t] %m" },
	{ "Elixir", "%d request_id=%X{request_id} [%p] %m" },
	{ "logcat", "%d %pid %t %p %c: %m" },
	{ "Elasticsearch", "[%d][%p][%c] [%node] %m" },
};

static bool is_number(struct str s)
{
	uint64_t v;

	return str_take_uint(&s, &v) && !s.n;
}

static bool fits(const struct layout *layout, const struct layout_fields *f,
		 const struct str *lines, size_t nr)
{
	struct layout_worker *worker = layout_worker_new(layout);
	struct losses losses = { 0 };
	struct arena arena = { 0 };
	struct event ev;
	size_t whole = 0, leveled = 0, matched;
	bool has_level = false, has_pid = false, has_thread = false;

	for (size_t i = 0; i < f->nr; i++) {
		has_level |= f->ops[i].step == STEP_LEVEL || f->ops[i].field == FIELD_LEVEL;
		has_pid |= f->ops[i].field == FIELD_PID;
		has_thread |= f->ops[i].field == FIELD_THREAD;
	}
	for (size_t i = 0; i < nr; i++) {
		if (layout_fields_parse(f, layout, worker, lines[i], &arena, &ev, &losses,
					&matched) != 1 ||
		    matched < f->nr || (has_pid && !has_thread && !is_number(ev.thread)))
			continue;
		whole++;
		leveled += ev.level != LEVEL_NONE;
	}
	arena_done(&arena);
	layout_worker_free(worker);
	return layout_most(whole, nr, 85) && (!has_level || layout_most(leveled, whole, 40));
}

bool layout_catalogue_find(struct layout *layout, const struct layout_time *format,
			   const struct str *lines, size_t nr, struct layout_fields *f)
{
	for (size_t i = 0; i < sizeof(catalogue) / sizeof(*catalogue); i++) {
		*f = (struct layout_fields){ .time = *format };
		if (!layout_pattern_compile(f, str_of(catalogue[i].pattern), &layout->arena,
					    NULL) &&
		    fits(layout, f, lines, nr))
			return true;
	}
	*f = (struct layout_fields){ 0 };
	return false;
}
