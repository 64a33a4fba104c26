#include "cli/observe.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/crew.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/models.h"
#include "cli/naming.h"
#include "cli/progress.h"
#include "cli/say.h"
#include "cli/storing.h"
#include "infer/inference.h"
#include "infer/requests/harvest.h"
#include "infer/requests/requests.h"
#include "infer/requests/sight.h"
#include "model/event.h"
#include "model/sink.h"
#include "source/rotation.h"
#include "source/source.h"
#include "store/store.h"

static atomic_int is_interrupted; /* written by a signal, read by every thread */

static void interrupt(int signal)
{
	(void)signal;
	is_interrupted = 1;
}

void observe_interrupt(void)
{
	is_interrupted = 1;
}

bool observe_was_interrupted(void)
{
	return atomic_exchange(&is_interrupted, 0);
}

static struct progress inferring;

/* Asked between requests, by any thread: also the moment to show that something goes on. One at a
 * time draws. */
static bool is_stopped(void)
{
	static pthread_mutex_t drawing = PTHREAD_MUTEX_INITIALIZER;

	if (!pthread_mutex_trylock(&drawing)) {
		progress_add(&inferring, 0);
		pthread_mutex_unlock(&drawing);
	}
	return is_interrupted;
}

/* Stops gently once, so that the unfinished run is removed; the second signal ends the program. */
static void catch_signals(void)
{
	struct sigaction act = { .sa_handler = interrupt, .sa_flags = SA_RESETHAND };

	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
}

/* Between the sources and the store: progress, and the way out on a signal. */
struct passage {
	struct sink store;
	struct progress progress;
	const char *name;      /* of the file at hand, as answers show it */
	struct models *models; /* NULL: none are given */
	struct harvest *harvest;
	struct naming *naming;
	struct buf log; /* the log that the file at hand is of */
};

static int pass_file(void *to, const struct file_seen *f, uint32_t *number, struct error *err)
{
	struct passage *p = to;
	struct file_seen seen = *f;
	int got;

	seen.name = str_of(p->name);
	got = p->store.file(p->store.to, &seen, number, err);
	buf_clear(&p->log);
	rotation_log(&p->log, seen.name);
	if (got >= 0)
		harvest_file(p->harvest, *number, buf_str(&p->log));
	naming_file(p->naming, buf_str(&p->log));
	return got;
}

/* Events on their way to those who want them, none of whom knows of the others. */
struct handing {
	struct passage *p;
	const struct event *ev;
	size_t nr;
	struct error err[2]; /* of harvest and store */
	int got[2];
};

enum { TO_HARVEST, TO_STORE, TO_NAMING, TAKERS, MANY_EVENTS = 512 };

static void hand_to(void *ctx, uint32_t taker)
{
	struct handing *h = ctx;
	struct passage *p = h->p;

	if (taker == TO_NAMING && p->naming->is_on)
		naming_events(p->naming, h->ev, h->nr);
	if (taker == TO_NAMING || p->naming->is_alone)
		return;
	if (taker == TO_HARVEST) {
		h->got[taker] = harvest_events(p->harvest, h->ev, h->nr, &h->err[taker]);
		return;
	}
	if (p->models)
		models_count(p->models, h->ev, h->nr);
	h->got[taker] = p->store.events(p->store.to, h->ev, h->nr, &h->err[taker]);
}

static int pass_again(void *to, uint32_t number, const struct file_seen *f, struct error *err)
{
	struct passage *p = to;
	struct file_seen seen = *f;

	seen.name = str_of(p->name);
	buf_clear(&p->log);
	rotation_log(&p->log, seen.name);
	harvest_file_again(p->harvest, buf_str(&p->log));
	naming_file(p->naming, buf_str(&p->log));
	return p->store.again(p->store.to, number, &seen, err);
}

static int pass_events(void *to, const struct event *ev, size_t nr, struct error *err)
{
	struct handing h = { .p = to, .ev = ev, .nr = nr };

	if (is_interrupted)
		return error_set(err, EINTR, "interrupted");
	/* side by side, where it is worth the threads */
	crew_run_with(nr < MANY_EVENTS ? 1 : 0, TAKERS, hand_to, &h);
	for (unsigned i = 0; i < 2; i++)
		if (h.got[i] < 0) {
			*err = h.err[i];
			return h.got[i];
		}
	return 0;
}

static int pass_spans(void *to, const struct span *sp, size_t nr, struct error *err)
{
	struct passage *p = to;

	if (is_interrupted)
		return error_set(err, EINTR, "interrupted");
	return p->store.spans(p->store.to, sp, nr, err);
}

static void pass_progress(void *to, uint64_t bytes)
{
	struct passage *p = to;

	progress_add(&p->progress, bytes);
}

/* The reason of the last file that was passed over stands in *err. */
static int nothing_read(size_t nr, struct error *err)
{
	if (nr > 1)
		return error_set(err, ENOENT,
				 "none of the %zu files is a log or a trace that can be read", nr);
	return -err->code;
}

struct inputs {
	struct source_options options;
	const struct observed_files *files;
	struct models models;
	struct statements statements;
	struct harvest harvest;
	struct requests_begun *begun; /* of it; NULL: nothing yet */
	struct naming naming;
};

/* One bad file must not cost the others; our own failures do end it. */
static bool ends_it(int got)
{
	return got == -EINTR || got == -ENOSPC || got == -EDQUOT || got == -ESTALE;
}

/* How many of them were read goes to *nr_read. */
static int read_files(struct inputs *in, struct sink *store, size_t *nr_read, struct error *err)
{
	const struct source_options *o = &in->options;
	const struct observed_files *files = in->files;
	struct passage p = { .store = *store,
			     .models = in->models.matcher ? &in->models : NULL,
			     .harvest = &in->harvest,
			     .naming = &in->naming };
	struct sink sink = { &p,         pass_file,     pass_events,
			     pass_spans, pass_progress, p.store.losses,
			     pass_again };
	int got = 0;

	progress_begin(&p.progress, "reading", files->bytes);
	for (size_t i = 0; i < files->nr && got >= 0; i++) {
		p.name = files->name(files->to, i);
		got = files->read(files->to, i, o, &sink, err);
		if (got >= 0) {
			*nr_read += got > 0;
			continue;
		}
		if (ends_it(got) || files->nr == 1 || files->is_strict)
			break;
		progress_end(&p.progress);
		say_error("%s (left out)", err->msg);
		p.store.losses->count[LOSS_FILES_UNREADABLE]++;
		got = 0;
	}
	progress_end(&p.progress);
	buf_done(&p.log);
	return got;
}

static int read_inputs(void *to, struct sink *store, struct error *err)
{
	struct inputs *in = to;
	size_t nr_read = 0;
	int got;

	models_losses(&in->models, store->losses);
	harvest_files(&in->harvest);
	got = read_files(in, store, &nr_read, err);
	if (got >= 0 && !nr_read)
		return nothing_read(in->files->nr, err);
	/* what follows takes its time, too */
	progress_begin(&inferring, "inferring", 0);
	return got < 0 ? got : harvest_end(&in->harvest, err);
}

static int keep_models(void *to, struct store *s, struct error *err)
{
	return models_keep(&((struct inputs *)to)->models, s, err);
}

/* What was gathered on the way, for those who tie lines together; objects are found beside them. */
static void hand_lines(void *to, struct infer_options *o)
{
	struct inputs *in = to;

	o->harvest = &in->harvest;
	o->begun = in->begun;
	o->reducers = in->files->reducers;
	o->matcher = in->models.matcher;
	naming_settle(&in->naming);
}

static int finish(void *to, struct store *s, struct error *err)
{
	return naming_end(&((struct inputs *)to)->naming, s, store_losses(s), err);
}

static int infer_all(struct store *s, const struct infer_options *o, struct error *err)
{
	int got = 0;

	progress_begin(&inferring, "inferring", 0);
	for (size_t i = 0; inferences[i] && got >= 0; i++)
		got = inferences[i]->run(s, o, err);
	progress_end(&inferring);
	return got;
}

static int span_option(const struct call *call, const char *name, int64_t *ns, struct error *err)
{
	const char *text = call_get(call, name);

	if (text && !time_parse_span(str_of(text), ns))
		return error_set(err, EINVAL,
				 "--%s '%s' is no time; write it like 10ms, 1.5s or 2min", name,
				 text);
	return 0;
}

static int take_options(const struct call *call, struct infer_options *io, struct error *err)
{
	int got = span_option(call, "max-skew", &io->max_skew_ns, err);

	io->is_stopped = is_stopped;
	io->method = call_get(call, "method");
	return got < 0 ? got : span_option(call, "idle", &io->idle_ns, err);
}

static int fill_run(struct store *s, const struct call *call, const struct observer *o,
		    struct error *err)
{
	struct infer_options io = INFER_DEFAULTS;
	struct sink sink = store_sink(s);
	int got = take_options(call, &io, err);

	if (got >= 0)
		got = store_set_fact(s, "version", STR(CULPRIT_VERSION), err);
	if (got >= 0)
		got = o->read(o->to, &sink, err);
	if (got >= 0 && o->keep)
		got = o->keep(o->to, s, err);
	if (got >= 0 && o->prepare)
		o->prepare(o->to, &io);
	catch_signals();
	if (got >= 0 && !o->is_not_inferred)
		got = infer_all(s, &io, err);
	if (got >= 0 && o->finish)
		got = o->finish(o->to, s, err);
	return got < 0 ? got : store_finish(s, err);
}

int observe_live(const struct call *call, const struct observer *o, const char *path,
		 struct store **s, struct error *err)
{
	struct store *made = NULL;
	int got = store_create(&made, path, err);

	if (got >= 0)
		got = fill_run(made, call, o, err);
	if (got < 0) {
		if (made)
			store_close(made);
		return got;
	}
	*s = made;
	return 0;
}

int observe_refuse_runs(char *const *inputs, unsigned long nr_inputs, struct error *err)
{
	struct buf shown = { 0 };
	int got = 0;

	for (unsigned long i = 0; i < nr_inputs && !got; i++) {
		const char *name;

		if (!store_is_remote(inputs[i]) && !store_is_run(inputs[i]))
			continue;
		name = storing_shown(inputs[i], &shown);
		got = error_set(err, EINVAL, "'%s' is a run already; ask it: culprit answer %s",
				name, name);
	}
	buf_done(&shown);
	return got;
}

/* For tests, which have no million lines: how many are looked at together. 0: as many as usual. */
static size_t window_of_tests(void)
{
	const char *text = getenv("CULPRIT_WINDOW");
	struct str digits = str_of(text ? text : "");
	uint64_t nr;

	return str_take_uint(&digits, &nr) && !digits.n && nr <= UINT32_MAX ? (size_t)nr : 0;
}

/* Models, and who asks them; path as in naming.h. */
static int open_inputs(struct inputs *in, const struct call *call, const char *path,
		       struct error *err)
{
	int got;

	*in = (struct inputs){ .options = { .layout = call_get(call, "layout"),
					    .zone = call_get(call, "zone"),
					    .names = call_get(call, "names"),
					    .is_blind = call_has(call, "blind") },
			       .harvest = { .window = window_of_tests() } };
	got = naming_init(&in->naming, call, path, err);
	if (got >= 0)
		got = models_open(&in->models, call, call->inputs, call->nr_inputs, err);
	if (in->naming.is_on)
		in->options.namers = &in->naming.namers;
	in->options.is_bare = in->naming.is_alone;
	in->statements =
		(struct statements){ in->models.matcher, sight_event,  in->models.matcher != NULL,
				     sight_remember,     sight_forget, sight_event_again };
	if (!in->naming.is_alone)
		in->options.statements = &in->statements;
	return got;
}

static void close_inputs(struct inputs *in)
{
	models_close(&in->models);
	requests_begun_free(in->begun);
	harvest_done(&in->harvest);
	naming_done(&in->naming);
}

static struct observer observer_of(struct inputs *in)
{
	return (struct observer){ in,         read_inputs, keep_models,
				  hand_lines, finish,      in->naming.is_alone };
}

int observe_files(const struct call *call, const struct observed_files *files, const char *path,
		  struct store **s, struct error *err)
{
	struct inputs in;
	int got = open_inputs(&in, call, path, err);

	in.files = files;
	if (got >= 0) {
		struct observer o = observer_of(&in);

		catch_signals();
		got = observe_live(call, &o, path, s, err);
	}
	close_inputs(&in);
	return got;
}

struct observation {
	const struct call *call;
	struct inputs in;
	struct store *store;
};

int observation_begin(struct observation **ob, const struct call *call, const char *path,
		      struct error *err)
{
	struct infer_options io = INFER_DEFAULTS;
	struct observation *made = mem_zalloc(sizeof(*made));
	int got = open_inputs(&made->in, call, path, err);

	made->call = call;
	if (got >= 0)
		got = take_options(call, &io, err);
	if (got >= 0)
		got = store_create(&made->store, path, err);
	if (got < 0)
		observation_free(made);
	else
		*ob = made;
	return got;
}

void observation_free(struct observation *ob)
{
	if (!ob)
		return;
	close_inputs(&ob->in);
	store_close(ob->store);
	free(ob);
}

/* Windows that are over are inferred once and for all. */
static int keep_requests(struct observation *ob, struct error *err)
{
	struct harvest *h = &ob->in.harvest;
	struct infer_options io = INFER_DEFAULTS;
	int got = take_options(ob->call, &io, err);

	if (got >= 0)
		got = harvest_settle(h, err);
	if (got <= 0 || (!ob->in.begun && 2 * harvest_nr_keyed(h) >= h->nr_lines))
		return got;
	io.harvest = h;
	io.matcher = ob->in.models.matcher;
	progress_begin(&inferring, "inferring", 0);
	got = requests_go_on(&ob->in.begun, ob->store, &io, err);
	progress_end(&inferring);
	return got;
}

int observation_keep(struct observation *ob, const struct observed_files *files, struct error *err)
{
	struct sink sink = store_sink(ob->store);
	size_t nr_read = 0;
	int got;

	ob->in.files = files;
	harvest_files(&ob->in.harvest);
	got = read_files(&ob->in, &sink, &nr_read, err);
	return got < 0 ? got : keep_requests(ob, err);
}

int observation_pause(struct observation *ob, struct error *err)
{
	return store_pause(ob->store, err);
}

int observation_tell(struct observation *ob, const struct observed_files *files, bool is_branch,
		     struct store **s, struct error *err)
{
	const struct observer o = observer_of(&ob->in);
	int got = is_branch ? naming_branch(&ob->in.naming, err) : 0;

	if (got >= 0 && is_branch)
		got = store_branch(ob->store, err);
	if (got < 0)
		return got;
	ob->in.files = files;
	catch_signals();
	got = fill_run(ob->store, ob->call, &o, err);
	if (got < 0) {
		store_close(ob->store);
		ob->store = NULL;
		return got;
	}
	*s = ob->store;
	ob->store = NULL;
	return 0;
}

static const char *listed_name(void *to, size_t nr)
{
	const struct source_list *list = to;

	return list->paths[nr] + list->name_at[nr];
}

static int read_listed(void *to, size_t nr, const struct source_options *o, struct sink *sink,
		       struct error *err)
{
	return source_read_listed(to, nr, o, sink, err);
}

/* The inputs without programs, which say what lines mean and hold none themselves. */
static int expand(char *const *inputs, unsigned long nr_inputs, struct source_list *list,
		  struct error *err)
{
	VEC(char *) read = { 0 };
	int got;

	for (unsigned long i = 0; i < nr_inputs; i++)
		if (!models_is_program(inputs[i]))
			vec_push(&read, inputs[i]);
	got = read.nr ? source_expand(read.v, read.nr, list, err)
		      : error_set(err, EINVAL,
				  "'%s' is a program: give the logs that it wrote as well, or "
				  "learn it: "
				  "culprit learn %s",
				  inputs[0], inputs[0]);
	vec_done(&read);
	return got;
}

int observe(const struct call *call, char *const *inputs, unsigned long nr_inputs, const char *path,
	    struct store **s, struct error *err)
{
	struct source_list list = { 0 };
	int got = observe_refuse_runs(inputs, nr_inputs, err);

	if (got >= 0)
		got = expand(inputs, nr_inputs, &list, err);
	if (got >= 0) {
		const struct observed_files files = { .to = &list,
						      .nr = list.nr,
						      .bytes = list.bytes,
						      .name = listed_name,
						      .read = read_listed };

		got = observe_files(call, &files, path, s, err);
	}
	source_list_done(&list);
	return got;
}

/* A file of that name is meant to be a run even when it is damaged or somebody else's. */
static bool is_meant_as_run(const char *path)
{
	return store_is_remote(path) || store_is_run(path) ||
	       (str_ends(str_of(path), STR(".culprit")) && !access(path, F_OK));
}

static int not_alone(const char *name, struct error *err)
{
	struct buf shown = { 0 };

	error_set(err, EINVAL, "'%s' is a %s; give it alone", storing_shown(name, &shown),
		  store_is_remote(name) ? "run" : "run file");
	buf_done(&shown);
	return -EINVAL;
}

bool observe_is_run(const char *name)
{
	return is_meant_as_run(name);
}

int observe_or_open(const struct call *call, char *const *inputs, unsigned long nr_inputs,
		    struct store **s, struct error *err)
{
	for (unsigned long i = 0; i < nr_inputs; i++) {
		if (!is_meant_as_run(inputs[i]))
			continue;
		if (nr_inputs > 1)
			return not_alone(inputs[i], err);
		return store_open(s, inputs[i], err);
	}
	return observe(call, inputs, nr_inputs, NULL, s, err);
}
