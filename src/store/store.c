#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/time.h"
#include "store/block.h"
#include "store/db.h"
#include "store/fetch.h"
#include "store/pg_address.h"
#include "store/lead.h"
#include "store/run.h"
#include "store/shared.h"
#include "store/sorter.h"
#include "store/stage.h"

/*
 *   sink --> block.c (columns) ------------------> DB_EVENTS
 *     \----> stage.c (by key) --> store_part --> inference
 *                                                   |
 *   DB_BODIES <-- code.c <-- store_add_request <----'
 *   DB_REQUESTS, DB_IDS <-- number.c, at store_finish
 *
 * db.c is the container, place.c the promise that a run is whole or absent.
 */

int run_wrote(struct store *s, int r)
{
	if (r < 0 && !s->failed)
		s->failed = r;
	return r;
}

int run_writable(const struct store *s, struct error *err)
{
	if (!s->writing)
		return error_set(err, EROFS, "the run is finished and cannot be changed");
	return s->failed ? error_set(err, -s->failed, "the run could not be written") : 0;
}

int store_create(struct store **s, const char *path, struct error *err)
{
	struct store *made = mem_zalloc(sizeof(*made));
	int r = path ? place_create(&made->place, path, err) : 0;

	if (!r)
		r = db_create(&made->db, made->place.partial, path ? path : "a temporary run", err);
	if (r) {
		store_close(made);
		return r;
	}
	made->writing = true;
	made->catalog.totals.first_ns = NS_NONE;
	made->catalog.totals.last_ns = NS_NONE;
	made->block = block_new();
	made->stage = stage_new(&made->place, &made->syms);
	made->sorter = sorter_new(&made->place);
	*s = made;
	return 0;
}

struct losses *store_losses(struct store *s)
{
	return &s->catalog.losses;
}

unsigned store_nr_parts(const struct store *s)
{
	return s->stage ? stage_nr_parts(s->stage) : 0;
}

int store_part(struct store *s, unsigned nr, struct arena *arena, struct part *part,
	       struct error *err)
{
	int r = run_writable(s, err);

	return r ? r : stage_part(s->stage, nr, arena, part, err);
}

static bool is_placed(const void *s, uint64_t event)
{
	return store_is_placed(s, event);
}

int store_leave_placed(struct store *s, struct error *err)
{
	int r = run_writable(s, err);

	return r || !s->placed.nr ? r : run_wrote(s, stage_leave(s->stage, is_placed, s, err));
}

int store_add_clock_fix(struct store *s, const struct clock_fix *fix, struct error *err)
{
	struct clock_fix kept = *fix;
	int r = run_writable(s, err);

	if (r)
		return r;
	kept.node = arena_str(&s->catalog.arena, fix->node);
	vec_push(&s->catalog.fixes, kept);
	return 0;
}

int store_set_fact(struct store *s, const char *name, struct str value, struct error *err)
{
	int r = run_writable(s, err);

	if (!r)
		catalog_set_fact(&s->catalog, str_of(name), value);
	return r;
}

int store_pause(struct store *s, struct error *err)
{
	int r = run_writable(s, err);

	return r ? r : run_wrote(s, db_flush(s->db, err));
}

int store_branch(struct store *s, struct error *err)
{
	int r = run_writable(s, err);

	if (!r)
		r = place_branch(&s->place, err);
	/* what the parent has open is not even closed: it is the parent's */
	return run_wrote(s, r ? r : db_go_on(&s->db, s->place.partial, s->place.path, err));
}

static void end_writing(struct store *s)
{
	s->writing = false;
	block_free(s->block);
	stage_free(s->stage);
	sorter_free(s->sorter);
	s->block = NULL;
	s->stage = NULL;
	s->sorter = NULL;
	bodies_made_done(&s->bodies);
	buf_done(&s->scratch);
	vec_done(&s->placed);
	nodesets_done(&s->sets);
	objects_made_free(s->objects);
	s->objects = NULL;
}

int store_finish(struct store *s, struct error *err)
{
	int r = run_writable(s, err);

	if (r)
		return r;
	r = events_flush(s, err);
	if (!r)
		r = bodies_flush(s, err);
	if (!r)
		r = number_requests(s, err);
	if (!r)
		r = catalog_save(&s->catalog, &s->syms, s->db, err);
	if (!r)
		r = db_finish(s->db, err);
	if (!r)
		r = place_finish(&s->place, err);
	if (!r)
		end_writing(s);
	return run_wrote(s, r);
}

int store_open(struct store **s, const char *path, struct error *err)
{
	struct store *made = mem_zalloc(sizeof(*made));
	int r = store_is_remote(path) ? fetch_open(&made->db, path, err)
				      : db_open(&made->db, path, err);

	if (!r)
		r = catalog_load(&made->catalog, &made->syms, made->db, err);
	if (!r && !store_is_remote(path))
		made->shared = store_shared_new();
	if (r)
		store_close(made);
	else
		*s = made;
	return r;
}

void store_share(struct store *s, struct store_shared *k)
{
	store_shared_free(s->shared);
	s->shared = shared_use(k);
}

void store_watch(struct store *s, bool (*is_over)(void *to), void *to)
{
	db_watch(s->db, is_over, to);
}

uint64_t store_stamp(const struct store *s)
{
	return db_stamp(s->db);
}

void store_close(struct store *s)
{
	if (!s)
		return;
	end_writing(s);
	db_close(s->db);
	place_done(&s->place);
	events_read_free(s->events);
	texts_free(s->texts);
	brief_names_done(&s->brief_names);
	lead_free(s->lead);
	store_shared_free(s->shared);
	narrow_done(&s->narrow);
	catalog_done(&s->catalog);
	syms_done(&s->syms);
	free(s);
}

bool store_is_remote(const char *name)
{
	return pg_address_is(name);
}

int store_shown_name(const char *where, struct buf *shown, struct error *err)
{
	struct pg_address a;
	int r = pg_address_parse(&a, where, NULL, err);

	if (r)
		return r;
	buf_add(shown, str_of(a.shown));
	pg_address_done(&a);
	return 0;
}

int store_named(const char *where, const char *run, const char *otherwise, struct buf *named,
		struct error *err)
{
	return pg_address_named(where, run, otherwise, named, err);
}

bool store_is_run(const char *path)
{
	struct stat st;
	/* a pipe is not even opened: its writer would take us for its reader, and be cut off */
	bool is_file = !stat(path, &st) && S_ISREG(st.st_mode);
	cleanup(close_fd) int fd = is_file ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	char head[128];
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head));

	return n > 0 && db_is_head((struct str){ head, (size_t)n });
}

/* --- what the catalog answers ---------------------------------------------------------------- */

int store_totals(struct store *s, struct store_totals *t, struct error *err)
{
	int r = narrow_sum(s, err);

	*t = s->catalog.totals;
	if (!r && s->narrow.is_on) {
		t->nr_requests = s->narrow.nr;
		t->nr_spans = s->narrow.nr_spans;
	}
	return r;
}

int64_t store_first_ns(const struct store *s)
{
	return s->catalog.totals.first_ns;
}

struct str store_fact(struct store *s, const char *name)
{
	vec_each (&s->catalog.facts, f)
		if (str_eq(f->name, str_of(name)))
			return f->value;
	return STR("");
}

int store_each_file(struct store *s, int (*each)(void *ctx, const struct stored_file *f), void *ctx,
		    struct error *err)
{
	int r = 0;

	(void)err;
	for (size_t i = 0; i < s->catalog.files.nr && !r; i++)
		r = each(ctx, &s->catalog.files.v[i].f);
	return r;
}

int store_each_clock_fix(struct store *s, int (*each)(void *ctx, const struct clock_fix *f),
			 void *ctx, struct error *err)
{
	int r = 0;

	(void)err;
	for (size_t i = 0; i < s->catalog.fixes.nr && !r; i++)
		r = each(ctx, &s->catalog.fixes.v[i]);
	return r;
}
