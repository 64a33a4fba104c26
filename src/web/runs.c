#include "web/runs.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/jsonout.h"
#include "base/time.h"
#include "base/vec.h"
#include "store/store.h"

#define SPARE_MAX 4           /* handles that wait to be used again */
#define REMOTE_NS (10 * NS_S) /* a handle sees a run elsewhere as it was when it was opened */

enum state { PENDING, READY, FAILED };

struct run {
	enum state state;
	char *path, *shown;
	char doing[512]; /* PENDING: what; FAILED: why not */
	double share;    /* PENDING: how much of it is done; negative: unknown */
	int64_t began;   /* PENDING: with that */
	bool is_remote, is_gone;
	struct stat seen; /* of a file */
	uint64_t stamp;   /* of a run elsewhere, and when that was asked for */
	int64_t asked;
	uint64_t generation;
	struct store *spare[SPARE_MAX];
	size_t nr_spare;
	struct store_shared *shared; /* by handles of the file that is there */
};

struct runs {
	pthread_mutex_t lock;
	VEC(struct run *) all;
};

struct runs *runs_new(void)
{
	struct runs *r = mem_zalloc(sizeof(*r));

	pthread_mutex_init(&r->lock, NULL);
	return r;
}

static void drop_spare(struct run *run)
{
	while (run->nr_spare)
		store_close(run->spare[--run->nr_spare]);
	store_shared_free(run->shared);
	run->shared = NULL;
}

void runs_free(struct runs *r)
{
	if (!r)
		return;
	vec_each (&r->all, run) {
		drop_spare(*run);
		free((*run)->path);
		free((*run)->shown);
		free(*run);
	}
	vec_done(&r->all);
	pthread_mutex_destroy(&r->lock);
	free(r);
}

static char *copy(const char *text)
{
	size_t n = strlen(text) + 1;

	return memcpy(mem_alloc(n), text, n);
}

static unsigned add(struct runs *r, const char *path, const char *shown, enum state state)
{
	struct run *run = mem_zalloc(sizeof(*run));
	unsigned nr;

	run->state = state;
	run->path = path ? copy(path) : NULL;
	run->is_remote = path && store_is_remote(path);
	run->shown = copy(shown);
	run->share = -1;
	pthread_mutex_lock(&r->lock);
	vec_push(&r->all, run);
	nr = (unsigned)r->all.nr;
	pthread_mutex_unlock(&r->lock);
	return nr;
}

unsigned runs_add(struct runs *r, const char *path, const char *shown)
{
	return add(r, path, shown, READY);
}

unsigned runs_add_pending(struct runs *r, const char *shown)
{
	return add(r, NULL, shown, PENDING);
}

/* With the lock held; NULL when there is none of that number. */
static struct run *find(struct runs *r, unsigned run)
{
	return run && run <= r->all.nr ? r->all.v[run - 1] : NULL;
}

void runs_progress(struct runs *r, unsigned run, const char *doing, double share)
{
	struct run *it;

	pthread_mutex_lock(&r->lock);
	it = find(r, run);
	if (!it->began || strcmp(it->doing, doing))
		it->began = time_tick();
	snprintf(it->doing, sizeof(it->doing), "%s", doing);
	it->share = share;
	pthread_mutex_unlock(&r->lock);
}

void runs_ready(struct runs *r, unsigned run, const char *path)
{
	struct run *it;

	pthread_mutex_lock(&r->lock);
	it = find(r, run);
	free(it->path);
	it->path = copy(path);
	it->state = READY;
	pthread_mutex_unlock(&r->lock);
}

void runs_failed(struct runs *r, unsigned run, const char *why)
{
	struct run *it;

	pthread_mutex_lock(&r->lock);
	it = find(r, run);
	snprintf(it->doing, sizeof(it->doing), "%s", why);
	it->state = FAILED;
	pthread_mutex_unlock(&r->lock);
}

size_t runs_nr(struct runs *r)
{
	size_t nr;

	pthread_mutex_lock(&r->lock);
	nr = r->all.nr;
	pthread_mutex_unlock(&r->lock);
	return nr;
}

const char *runs_name(struct runs *r, unsigned run)
{
	struct run *it;

	pthread_mutex_lock(&r->lock);
	it = find(r, run);
	pthread_mutex_unlock(&r->lock);
	return it ? it->shown : "";
}

/* A run is written beside its name and renamed: another file under the name is another run. */
static void notice_change(struct run *run)
{
	struct stat now = { 0 };

	if (run->is_remote) {
		if (time_tick() - run->asked > REMOTE_NS)
			drop_spare(run);
		return;
	}
	run->is_gone = stat(run->path, &now) && errno == ENOENT;
	if (run->generation && !run->is_gone && now.st_ino == run->seen.st_ino &&
	    now.st_dev == run->seen.st_dev && now.st_mtim.tv_sec == run->seen.st_mtim.tv_sec &&
	    now.st_mtim.tv_nsec == run->seen.st_mtim.tv_nsec)
		return;
	/* to go is a change, and to come back is one; to stay away is none */
	run->generation += !run->is_gone || run->seen.st_ino;
	run->seen = now;
	drop_spare(run);
}

/* Of a handle that was just opened. */
static void notice_stamp(struct run *run, const struct store *s)
{
	run->asked = time_tick();
	if (run->generation && store_stamp(s) == run->stamp)
		return;
	run->stamp = store_stamp(s);
	run->generation++;
	drop_spare(run);
}

/* A file that was replaced while it was opened may be either: its handle shares nothing. */
static void notice_opened(struct run *run, struct store *s, uint64_t generation)
{
	if (run->is_remote) {
		notice_stamp(run, s);
		return;
	}
	notice_change(run);
	if (run->generation != generation || run->is_gone)
		return;
	if (!run->shared)
		run->shared = store_shared_new();
	store_share(s, run->shared);
}

static int not_ready(const struct run *run, struct error *err)
{
	if (run->state == FAILED)
		return error_set(err, EIO, "%s", run->doing);
	if (run->state == READY)
		return error_set(err, ENOENT,
				 "the run '%s' was removed: put it back or make it anew",
				 run->shown);
	return error_set(err, EAGAIN, "this run is still being made: %s", run->doing);
}

/* With the lock held: 1 with a spare handle, 0 when one is to be opened. */
static int take_spare(struct runs *r, unsigned run, struct store **s, uint64_t *generation,
		      struct error *err)
{
	struct run *it = find(r, run);

	if (!it)
		return error_set(err, ENOENT, "there is no run %u: %zu are open", run, r->all.nr);
	if (it->state == READY)
		notice_change(it);
	if (it->state != READY || it->is_gone)
		return not_ready(it, err);
	*generation = it->generation;
	if (!it->nr_spare)
		return 0;
	*s = it->spare[--it->nr_spare];
	return 1;
}

int runs_take(struct runs *r, unsigned run, struct store **s, uint64_t *generation,
	      struct error *err)
{
	struct run *it;
	int got;

	*s = NULL;
	pthread_mutex_lock(&r->lock);
	got = take_spare(r, run, s, generation, err);
	it = find(r, run);
	pthread_mutex_unlock(&r->lock);
	if (got)
		return got < 0 ? got : 0;
	/* the path of a run that is ready never changes, and opening may take its time */
	got = store_open(s, it->path, err);
	if (got < 0)
		return got;
	pthread_mutex_lock(&r->lock);
	notice_opened(it, *s, *generation);
	if (it->is_remote)
		*generation = it->generation;
	pthread_mutex_unlock(&r->lock);
	return 0;
}

void runs_rest(struct runs *r)
{
	pthread_mutex_lock(&r->lock);
	vec_each (&r->all, run)
		if ((*run)->is_remote)
			drop_spare(*run);
	pthread_mutex_unlock(&r->lock);
}

void runs_give(struct runs *r, unsigned run, uint64_t generation, struct store *s)
{
	struct run *it;

	store_watch(s, NULL, NULL);
	pthread_mutex_lock(&r->lock);
	it = find(r, run);
	if (it->generation == generation && it->nr_spare < SPARE_MAX) {
		it->spare[it->nr_spare++] = s;
		s = NULL;
	}
	pthread_mutex_unlock(&r->lock);
	if (s)
		store_close(s);
}

void runs_tell(struct runs *r, struct jsonout *j, unsigned run)
{
	static const char *const words[] = { "pending", "ready", "failed" };
	struct run *it;

	pthread_mutex_lock(&r->lock);
	it = find(r, run);
	if (it->state == READY)
		notice_change(it);
	jsonout_key(j, "run");
	jsonout_uint(j, run);
	jsonout_key(j, "name");
	jsonout_str(j, str_of(it->shown));
	jsonout_key(j, "state");
	jsonout_str(j, str_of(words[it->state]));
	jsonout_key(j, "generation");
	jsonout_uint(j, it->generation);
	if (it->state != READY) {
		jsonout_key(j, "doing");
		jsonout_str(j, str_of(it->doing));
		jsonout_key(j, "share");
		if (it->share >= 0)
			jsonout_double(j, it->share);
		else
			jsonout_null(j);
	}
	if (it->state == PENDING) {
		jsonout_key(j, "seconds");
		jsonout_int(j, (time_tick() - it->began) / NS_S);
	}
	pthread_mutex_unlock(&r->lock);
}

const char *runs_file(struct runs *r, unsigned run)
{
	const char *path = NULL;
	struct run *it;

	pthread_mutex_lock(&r->lock);
	it = find(r, run);
	if (it && it->state == READY && !store_is_remote(it->path) && !strcmp(it->path, it->shown))
		path = it->path;
	pthread_mutex_unlock(&r->lock);
	return path;
}

bool runs_is_pending(struct runs *r, unsigned run)
{
	struct run *it;
	bool is_pending;

	pthread_mutex_lock(&r->lock);
	it = find(r, run);
	is_pending = it && it->state == PENDING;
	pthread_mutex_unlock(&r->lock);
	return is_pending;
}
