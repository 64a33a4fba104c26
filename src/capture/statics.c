/* Loads capture/bpf/statics.bpf.c and attaches it to static probes. Everything is detached when
 * this process ends, however it ends. */
#include "capture/statics.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/time.h"
#include "base/vec.h"
#include "capture/bpf/statics.skel.h"
#include "capture/probe/probe.h"
#include "wire/static_record.h"

#define LATE_NS (2 * NS_MS) /* a record is in the buffer so long after its time, at most */

struct statics {
	struct statics_bpf *bpf;
	struct ring_buffer *ring;
	struct bpf_link *links[STATIC_PROBES_MAX];
	uint32_t nr;
	VEC(struct mark) marks;
};

/* libbpf would write to standard error. */
static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

static int keep_record(void *to, void *data, size_t size)
{
	const struct static_record *r = data;
	struct statics *s = to;

	if (size >= sizeof(*r))
		vec_push(&s->marks, (struct mark){ .ns = (int64_t)r->ns,
						   .value = r->value,
						   .function = r->function,
						   .process = r->tgid,
						   .thread = r->tid,
						   .place = MARK_ENTRY,
						   .has_value = r->has_value });
	return 0;
}

int statics_open(struct statics **out, struct error *err)
{
	struct statics *s = mem_zalloc(sizeof(*s));
	int code = 0;

	libbpf_set_print(say_nothing);
	s->bpf = statics_bpf__open_and_load();
	if (s->bpf)
		s->ring = ring_buffer__new(bpf_map__fd(s->bpf->maps.records), keep_record, s, NULL);
	if (!s->ring)
		code = errno ? errno : EIO;
	if (code) {
		statics_close(s);
		return error_set(err, code,
				 "static probes cannot be watched (that takes eBPF, and root): %s",
				 strerror(code));
	}
	*out = s;
	return 0;
}

void statics_close(struct statics *s)
{
	if (!s)
		return;
	for (uint32_t i = 0; i < s->nr; i++)
		bpf_link__destroy(s->links[i]);
	ring_buffer__free(s->ring);
	statics_bpf__destroy(s->bpf);
	vec_done(&s->marks);
	free(s);
}

static struct static_take take_of(uint32_t function, const struct probe_take *take)
{
	struct static_take t = { .function = function,
				 .is_taken = take->from == TAKE_ARGUMENT,
				 .argument = take->argument,
				 .nr_loads = take->nr_loads,
				 .bytes = take->bytes };

	for (int i = 0; i < STATIC_LOADS_MAX; i++)
		t.offsets[i] = take->offsets[i];
	return t;
}

int statics_add(struct statics *s, const char *path, const char *provider, const char *name,
		uint32_t function, const struct probe_take *take, struct error *err)
{
	LIBBPF_OPTS(bpf_usdt_opts, opts, .usdt_cookie = s->nr);
	struct static_take t = take_of(function, take);

	if (take->from == TAKE_RETURN)
		return error_set(err, EINVAL, "a static probe returns nothing: name an argument");
	if (s->nr == STATIC_PROBES_MAX)
		return error_set(err, E2BIG, "no more than %d static probes", STATIC_PROBES_MAX);
	if (bpf_map_update_elem(bpf_map__fd(s->bpf->maps.takes), &s->nr, &t, 0))
		return error_set(err, errno, "static probes cannot be watched: %s",
				 strerror(errno));
	s->links[s->nr] =
		bpf_program__attach_usdt(s->bpf->progs.pass, -1, path, provider, name, &opts);
	if (!s->links[s->nr])
		return error_set(err, errno, "cannot watch %s:%s of %s: %s", provider, name, path,
				 strerror(errno));
	s->nr++;
	return 0;
}

int statics_read(struct statics *s,
		 int (*take)(void *to, const struct mark *m, size_t nr, struct error *err),
		 void *to, int64_t *until, struct error *err)
{
	int64_t now = time_tick();
	int got = ring_buffer__consume(s->ring);

	if (got < 0)
		return error_set(err, -got, "static probes cannot be read: %s", strerror(-got));
	got = s->marks.nr ? take(to, s->marks.v, s->marks.nr, err) : 0;
	vec_clear(&s->marks);
	*until = now - LATE_NS;
	return got < 0 ? got : 0;
}

uint64_t statics_dropped(const struct statics *s)
{
	return s->bpf->bss->nr_dropped;
}
