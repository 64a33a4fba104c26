#include "host/agent.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/time.h"
#include "host/find.h"
#include "host/programs.h"
#include "host/reader.h"
#include "host/spool.h"
#include "host/tail.h"
#include "model/loss.h"
#include "model/mention_pack.h"
#include "model/mention_wire.h"
#include "source/rotation.h"
#include "source/source.h"

#define SEGMENT_BYTES ((uint64_t)1 << 20)
#define CLOSE_NS (60 * NS_S)   /* after which a file that was rotated away is over */
#define PROGRAMS_NS (5 * NS_S) /* to wait for what programs print */
#define PROGRAMS_SHARE 200     /* reading them takes one part of so many, after the first time */
#define SEARCH_MIN_NS NS_S     /* between two walks over all processes: */
#define SEARCH_MAX_NS (30 * NS_S)
#define SEARCH_SLACK_NS (50 * NS_MS) /* epochs do not come to the moment */
#define SEARCH_SHARE 400             /* they take one part of so many */

struct agent {
	struct agent_options o;
	struct spool *spool;
	struct tail *tail;
	struct reader *reader;
	struct find *find;
	struct programs *programs; /* that write the logs; NULL: not asked for */
	pthread_t programs_reader; /* has them while it works */
	bool is_reading_programs;
	const struct constants *constants;
	int64_t programs_took, programs_at; /* what that cost; not again before */
	struct losses programs_losses;
	struct mention_packer packer;
	struct buf line, notes;
	struct map told; /* templates whose titles are in the file of the spool that is written */
	struct losses losses, sent;
	char boot[WIRE_NAME_MAX];
	int64_t wall;                /* of this epoch */
	int64_t named_at, search_at; /* when to look again, of time_tick */
	uint64_t nr_lines, nr_messages;
};

static void recall_note(void *ctx, struct str note)
{
	tail_recall(((struct agent *)ctx)->tail, note);
}

static size_t take(void *ctx, const struct tail_log *log, struct str bytes, bool is_whole)
{
	struct agent *a = ctx;

	return reader_take(a->reader, log, bytes, is_whole, a->wall);
}

static void find_boot(struct agent *a)
{
	FILE *in = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!in || !fgets(a->boot, sizeof(a->boot), in))
		a->boot[0] = 0;
	if (in)
		fclose(in);
	a->boot[strcspn(a->boot, "\n")] = 0;
}

/* --- messages ------------------------------------------------------------------------------ */

static void note_line(void *ctx, struct str note)
{
	struct agent *a = ctx;

	buf_add(&a->notes, note);
	buf_char(&a->notes, '\n');
}

static void note_item(void *ctx, struct str note)
{
	mention_pack_note(&((struct agent *)ctx)->packer, note);
}

/* A file of the spool that can be understood without those before it. All that was taken is kept
 * at this moment. */
static int begin_file(struct agent *a, struct error *err)
{
	int r;

	map_clear(&a->told);
	buf_clear(&a->notes);
	tail_notes(a->tail, true, note_line, a);
	r = spool_begin(a->spool, buf_str(&a->notes), err);
	if (r >= 0)
		tail_keep(a->tail);
	return r;
}

static void pack_mentions(struct agent *a)
{
	size_t nr;
	struct mention *const *v = reader_mentions(a->reader, &nr);

	for (size_t i = 0; i < nr; i++) {
		struct mention m = *v[i];
		uint64_t *told = map_at(&a->told, m.template);

		if (*told)
			m.title = STR("");
		*told = 1;
		a->nr_lines += m.count;
		mention_pack(&a->packer, &m);
	}
}

static bool pack_losses(struct agent *a)
{
	bool has_any = false;

	for (int i = 0; i < LOSS_NR; i++) {
		uint64_t more = a->losses.count[i] - a->sent.count[i];

		if (more)
			mention_pack_loss(&a->packer, (enum loss)i, more);
		has_any |= more > 0;
	}
	return has_any;
}

/* What was read and where reading stands, in one message: both are there or neither is. */
static int flush(struct agent *a, struct error *err)
{
	const struct wire_head head = { .agent = spool_agent(a->spool),
					.boot = str_of(a->boot),
					.host = str_of(a->o.host),
					.seq = spool_next(a->spool),
					.epoch_ns = a->wall,
					.pid = (uint32_t)getpid() };
	int r;

	mention_packer_clear(&a->packer);
	pack_mentions(a);
	pack_losses(a);
	tail_notes(a->tail, false, note_item, a);
	reader_clear(a->reader);
	if (!a->packer.body.n)
		return 0;
	buf_clear(&a->line);
	wire_write(&a->line, &head, buf_str(&a->packer.body));
	r = spool_append(a->spool, buf_str(&a->line), err);
	if (r < 0) {
		tail_back(a->tail);
		return r;
	}
	tail_keep(a->tail);
	a->sent = a->losses;
	a->nr_messages++;
	return spool_is_full(a->spool) ? begin_file(a, err) : 0;
}

static int pause_taking(void *ctx)
{
	struct agent *a = ctx;
	struct error err;

	return reader_bytes(a->reader) < WIRE_BODY_BYTES ? 0 : flush(a, &err);
}

/* --- logs ---------------------------------------------------------------------------------- */

/* Without files that were named, all that is found is read. */
static void add_found(void *ctx, const struct found_log *log)
{
	struct agent *a = ctx;

	if (!a->o.nr_inputs)
		tail_add(a->tail, log->path, log->name);
	if (a->programs && !a->is_reading_programs && tail_has(a->tail, log->path))
		programs_add(a->programs, log->pid, &a->losses);
}

/* Of the files that were named, those that are being written: not what rotation made of them. */
static void add_named(struct agent *a)
{
	struct source_list list = { 0 };
	struct error err;

	if (source_expand(a->o.inputs, a->o.nr_inputs, &list, &err) < 0)
		return;
	for (size_t i = 0; i < list.nr; i++) {
		const char *path = list.paths[i], *slash = strrchr(path, '/');
		struct rotation r;
		char *whole;

		rotation_of(str_of(slash ? slash + 1 : path), &r);
		if (list.is_found[i] &&
		    (r.is_packed || r.age == ROTATION_NUMBERED || r.age == ROTATION_OLD))
			continue;
		whole = realpath(path, NULL);
		if (whole && find_is_text(a->find, whole, &a->losses))
			tail_add(a->tail, whole, whole);
		free(whole);
	}
	source_list_done(&list);
}

static int64_t time_worked(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * NS_S + t.tv_nsec;
}

static void search_all(struct agent *a)
{
	find_logs(a->find, add_found, a, &a->losses);
}

/* As often as its share of the time allows. */
static void search_by(struct agent *a, void (*search)(struct agent *a), int64_t *again_at)
{
	int64_t now = time_tick(), worked = time_worked(), pause;

	if (now < *again_at)
		return;
	search(a);
	pause = (time_worked() - worked) * SEARCH_SHARE;
	if (pause < SEARCH_MIN_NS)
		pause = SEARCH_MIN_NS;
	*again_at = now + (pause < SEARCH_MAX_NS ? pause : SEARCH_MAX_NS) - SEARCH_SLACK_NS;
}

static void search(struct agent *a)
{
	if (a->o.nr_inputs)
		search_by(a, add_named, &a->named_at);
	if (a->programs || !a->o.nr_inputs)
		search_by(a, search_all, &a->search_at);
}

/* Reads what programs print, which may take a while. */
static void *read_programs(void *ctx)
{
	struct agent *a = ctx;
	int64_t worked = time_worked();

	a->constants = programs_constants(a->programs, &a->programs_losses);
	a->programs_took = time_worked() - worked;
	return NULL;
}

/* Waits so long for it; then lines are named without it for now, rather than left waiting. */
static void take_programs(struct agent *a, int64_t ns)
{
	int64_t until = time_now() + ns;
	const struct timespec end = { until / NS_S, until % NS_S };

	if (pthread_timedjoin_np(a->programs_reader, NULL, &end))
		return;
	a->is_reading_programs = false;
	a->programs_at = time_tick() + a->programs_took * PROGRAMS_SHARE;
	losses_add(&a->losses, &a->programs_losses);
	a->programs_losses = (struct losses){ 0 };
	reader_know(a->reader, a->constants);
}

static void look_into_programs(struct agent *a)
{
	int64_t wait = 0;

	if (a->programs && !a->is_reading_programs && time_tick() >= a->programs_at &&
	    programs_is_new(a->programs)) {
		/* those that were read before are made anew with the others */
		reader_know(a->reader, NULL);
		a->is_reading_programs =
			!pthread_create(&a->programs_reader, NULL, read_programs, a);
		wait = PROGRAMS_NS;
	}
	if (a->is_reading_programs)
		take_programs(a, wait);
}

/* --- the agent ----------------------------------------------------------------------------- */

int agent_open(struct agent **out, const struct agent_options *o, struct error *err)
{
	struct agent *a = mem_zalloc(sizeof(*a));
	const struct tail_options tail = { .backlog_bytes = o->backlog_bytes,
					   .rest_ns = o->epoch_ns - o->epoch_ns / 4,
					   .close_ns = CLOSE_NS,
					   .losses = &a->losses,
					   .ctx = a,
					   .take = take,
					   .pause = pause_taking };
	const struct reader_options reader = { str_of(o->host), o->layout, o->zone, o->overrides,
					       &a->losses };
	const struct spool_options spool = { o->state, SEGMENT_BYTES, o->spool_bytes };
	const struct spool_recall recall = { a, recall_note };
	int r;

	a->o = *o;
	find_boot(a);
	a->tail = tail_new(&tail);
	a->reader = reader_new(&reader);
	r = spool_open(&a->spool, &spool, &recall, err);
	if (r >= 0) {
		a->find = find_new("/proc", o->state);
		a->programs = o->has_no_programs ? NULL : programs_new("/proc");
		search(a);
		r = begin_file(a, err);
	}
	if (r < 0)
		agent_close(a);
	else
		*out = a;
	return r;
}

void agent_close(struct agent *a)
{
	tail_free(a->tail);
	reader_free(a->reader);
	if (a->is_reading_programs)
		pthread_join(a->programs_reader, NULL);
	if (a->programs)
		programs_free(a->programs);
	if (a->find)
		find_free(a->find);
	if (a->spool)
		spool_close(a->spool);
	mention_packer_done(&a->packer);
	buf_done(&a->line);
	buf_done(&a->notes);
	map_done(&a->told);
	free(a);
}

int agent_look(struct agent *a, struct error *err)
{
	int r = spool_is_full(a->spool) ? begin_file(a, err) : 0;

	if (r < 0)
		return r;
	a->wall = time_now();
	search(a);
	look_into_programs(a);
	r = tail_poll(a->tail, time_tick());
	if (r < 0)
		return error_set(err, -r, "cannot write to '%s': %s", a->o.state, strerror(-r));
	return flush(a, err);
}

void agent_trim(struct agent *a, const struct spool_ack *ack)
{
	a->losses.count[LOSS_EPOCHS_UNSENT] += spool_trim(a->spool, ack);
}

bool agent_is_sent(const struct agent *a, uint64_t (*taken)(void *ctx, uint64_t inode), void *ctx)
{
	return spool_is_taken(a->spool, taken, ctx);
}

void agent_state(const struct agent *a, struct agent_state *s)
{
	*s = (struct agent_state){ .nr_logs = tail_nr(a->tail),
				   .nr_lines = a->nr_lines,
				   .nr_messages = a->nr_messages,
				   .bytes = spool_bytes(a->spool) };
}

const struct losses *agent_losses(const struct agent *a)
{
	return &a->losses;
}
