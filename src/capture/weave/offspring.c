#include "capture/weave/offspring.h"

#include "base/time.h"
#include "capture/jvm/target.h"
#include "capture/probe/kin.h"

#define BECOMES_NS (10 * NS_S)    /* a program that has no machine in it by then will have none */
#define SOON_NS (2 * NS_S)        /* … and after this it is looked at now and then */
#define NAMELESS_NS (500 * NS_MS) /* JDK 8 does not name the thread that is waited for */
#define LOADED_NS (500 * NS_MS)   /* a program that has no machine has its libraries by then */
#define LOOK_NS (100 * NS_MS)
#define AGAIN_NS (50 * NS_MS)
#define TRIES 5
#define PIDS 1024

void offspring_open(struct offspring *o)
{
	*o = (struct offspring){ 0 };
	births_open(&o->births);
}

void offspring_close(struct offspring *o)
{
	cradle_close(&o->cradle);
	births_close(&o->births);
	vec_done(&o->parents);
	vec_done(&o->changed);
	vec_done(&o->v);
}

void offspring_of(struct offspring *o, int pid)
{
	vec_push(&o->parents, pid);
	births_of(&o->births, pid);
	cradle_of(&o->cradle, pid);
}

void offspring_hold(struct offspring *o, bool is_wanted)
{
	if (is_wanted && o->parents.nr && !o->was_opened) {
		o->was_opened = true;
		cradle_open(&o->cradle);
		vec_each (&o->parents, pid)
			cradle_of(&o->cradle, *pid);
	}
	o->is_wanted = is_wanted;
	cradle_want(&o->cradle, is_wanted);
}

void offspring_gone(struct offspring *o, int pid)
{
	for (size_t i = o->parents.nr; i-- > 0;)
		if (o->parents.v[i] == pid)
			o->parents.v[i] = o->parents.v[--o->parents.nr];
	births_sweep(&o->births);
}

static bool is_parent(const struct offspring *o, int pid)
{
	vec_each (&o->parents, p)
		if (*p == pid)
			return true;
	return false;
}

/* A process that becomes another program is a newborn once more. */
static void began(void *to, int pid)
{
	struct offspring *o = to;
	struct newborn n = { .pid = pid,
			     .started = kin_started(pid),
			     .began = time_tick(),
			     .is_launcher = jvm_is_launcher(pid) };

	/* of all programs of a host only those are looked at that are sure to have one */
	if (!n.started || is_parent(o, pid) || (o->births.is_of_all && !n.is_launcher))
		return;
	vec_each (&o->v, v)
		if (v->pid == pid) {
			*v = n;
			return;
		}
	vec_push(&o->v, n);
}

/* What the kernel has said. */
static void became(void *to, int pid)
{
	struct offspring *o = to;

	if (is_parent(o, pid))
		vec_push(&o->changed, pid);
	else
		began(o, pid);
}

int offspring_changed(struct offspring *o)
{
	return o->changed.nr ? o->changed.v[--o->changed.nr] : 0;
}

void offspring_anew(struct offspring *o, int pid)
{
	began(o, pid);
	vec_each (&o->v, v)
		if (v->pid == pid)
			v->is_asked = true;
}

bool offspring_has(const struct offspring *o, int pid)
{
	vec_each (&o->v, v)
		if (v->pid == pid)
			return true;
	return false;
}

/* Where the kernel says nothing, or had more to say than it could keep. */
static void look_below(struct offspring *o)
{
	int pids[PIDS];

	for (size_t i = 0; i < o->parents.nr; i++) {
		int pid = o->parents.v[i];
		size_t nr = pid == BIRTHS_ALL ? 0 : kin_below(pid, pids, PIDS);

		for (size_t k = 0; k < nr; k++)
			if (!offspring_has(o, pids[k]))
				began(o, pids[k]);
	}
}

void offspring_look(struct offspring *o)
{
	int64_t now = time_tick();

	births_read(&o->births, became, o);
	vec_clear(&o->births.made);
	if ((o->births.fd >= 0 && o->births.nr_missed == o->nr_missed) || now - o->looked < LOOK_NS)
		return;
	look_below(o);
	o->nr_missed = o->births.nr_missed;
	o->looked = now;
}

static bool is_ready(const struct newborn *n)
{
	struct jvm_target t;

	return jvm_target_read(n->pid, &t, NULL) >= 0 && t.takes_quit &&
	       (jvm_has_thread(n->pid, STR("Service Thread")) ||
		(time_tick() - n->began > NAMELESS_NS &&
		 !jvm_has_thread(n->pid, STR("VM Thread"))));
}

/* No machine, and asked for all the same. */
static bool is_program(const struct newborn *n)
{
	return n->is_asked && !n->is_launcher && time_tick() - n->began > LOADED_NS;
}

/* Whether it will never be a machine. */
static bool is_over(const struct newborn *n, bool is_machine)
{
	return kin_started(n->pid) != n->started ||
	       (!is_machine && time_tick() - n->began > BECOMES_NS);
}

static bool is_looked_at(struct newborn *n)
{
	int64_t now = time_tick();

	if (now < n->next)
		return false;
	if (now - n->began > SOON_NS)
		n->next = now + LOOK_NS;
	return true;
}

int offspring_next(struct offspring *o)
{
	size_t first = SIZE_MAX;

	for (size_t i = o->v.nr; i-- > 0;) {
		struct newborn *n = &o->v.v[i];
		bool is_machine;

		if (!is_looked_at(n))
			continue;
		is_machine = jvm_kind(n->pid) != JVM_NONE;
		if (is_over(n, is_machine)) {
			o->nr_gone += n->is_launcher && o->is_wanted;
			*n = o->v.v[--o->v.nr];
			first = first == o->v.nr ? i : first;
		} else if ((is_machine ? is_ready(n) : is_program(n)) &&
			   (first == SIZE_MAX || n->began < o->v.v[first].began)) {
			first = i;
		}
	}
	if (first == SIZE_MAX)
		return 0;
	o->told = o->v.v[first];
	o->v.v[first] = o->v.v[--o->v.nr];
	return o->told.pid;
}

bool offspring_again(struct offspring *o)
{
	struct newborn n = o->told;

	if (kin_started(n.pid) != n.started || ++n.nr_tries == TRIES)
		return false;
	n.next = time_tick() + AGAIN_NS;
	vec_push(&o->v, n);
	return true;
}
