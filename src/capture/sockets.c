/*
 * Loads and attaches capture/bpf/sockets.bpf.c, and hands what it tells to the decoder. Everything
 * is detached when this process ends, however it ends: nothing is pinned.
 */
#include "capture/sockets.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "wire/socket_calls.h"
#include "capture/bpf/sockets.skel.h"
#include "capture/capture.h"
#include "capture/sockets_decode.h"
#include "capture/sockets_listen.h"
#include "model/sink.h"

#define ORDER_NS NS_S /* how long a send may last and still be told in its order */
#define LOOK_MS 20    /* records wait so long at most */

struct sockets {
	struct sockets_bpf *bpf;
	struct ring_buffer *ring;
	struct sockets_listen *listen;
	struct sockets_decode *decode;
	uint64_t nr_seen;
};

bool sockets_are_built(void)
{
	return true;
}

static const struct {
	long number;
	uint8_t form;
} watched[] = {
	{ SYS_write, SOCKETS_BYTES | SOCKETS_SENDS },
	{ SYS_writev, SOCKETS_VECTORS | SOCKETS_SENDS },
	{ SYS_sendto, SOCKETS_NAMED | SOCKETS_SENDS },
	{ SYS_sendmsg, SOCKETS_MESSAGE | SOCKETS_SENDS },
	{ SYS_sendmmsg, SOCKETS_SEVERAL | SOCKETS_SENDS },
	{ SYS_sendfile, SOCKETS_NOTHING | SOCKETS_SENDS },
	{ SYS_read, SOCKETS_BYTES },
	{ SYS_readv, SOCKETS_VECTORS },
	{ SYS_recvfrom, SOCKETS_NAMED },
	{ SYS_recvmsg, SOCKETS_MESSAGE },
	{ SYS_recvmmsg, SOCKETS_SEVERAL },
};

/* libbpf would write to standard error. */
static int say_nothing(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

static void set_up(struct sockets_bpf *bpf, const struct sockets_options *o)
{
	for (size_t i = 0; i < sizeof(watched) / sizeof(*watched); i++)
		if (watched[i].number >= 0 && watched[i].number < SOCKETS_CALLS_MAX)
			bpf->rodata->form_of_call[watched[i].number] = watched[i].form;
	bpf->rodata->own_tgid = (uint32_t)getpid();
	bpf->rodata->only_tgid = (uint32_t)o->pid;
	bpf->rodata->wake_bytes = SOCKETS_RING_BYTES / 8;
}

static int explain(int r, const char *what, struct error *err)
{
	int code = r < 0 ? -r : EIO;

	if (code == EPERM || code == EACCES)
		return error_set(
			err, code,
			"the kernel does not let this user watch sockets (eBPF): run it as "
			"root, or with CAP_BPF, CAP_PERFMON and CAP_SYS_RESOURCE");
	if (code == ENOENT || code == ESRCH || code == EINVAL || code == ENOTSUP)
		return error_set(
			err, code,
			"cannot %s the programs that watch sockets: this kernel lacks what "
			"they need (BTF in /sys/kernel/btf/vmlinux, Linux 5.12 or newer): %s; "
			"packets can be recorded without --sockets",
			what, strerror(code));
	return error_set(err, code, "cannot %s the programs that watch sockets: %s", what,
			 strerror(code));
}

static int take_record(void *to, void *data, size_t size)
{
	struct sockets *s = to;

	s->nr_seen++;
	sockets_decode_add(s->decode, (struct str){ data, size });
	return 0;
}

static int open_all(struct sockets *s, const struct sockets_options *o, struct error *err)
{
	int r;

	libbpf_set_print(say_nothing);
	s->bpf = sockets_bpf__open();
	if (!s->bpf)
		return explain(-errno, "open", err);
	set_up(s->bpf, o);
	r = sockets_bpf__load(s->bpf);
	if (r < 0)
		return explain(r, "load", err);
	s->ring = ring_buffer__new(bpf_map__fd(s->bpf->maps.records), take_record, s, NULL);
	if (!s->ring)
		return explain(-errno, "read from", err);
	r = sockets_bpf__attach(s->bpf);
	return r < 0 ? explain(r, "attach", err) : 0;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_S + (uint64_t)t.tv_nsec;
}

static int start(struct sockets *s, const struct sockets_options *o, struct sink *sink,
		 struct error *err)
{
	struct file_seen seen = { .path = STR("sockets"),
				  .name = STR("sockets"),
				  .format = STR("live sockets") };
	struct sockets_setting setting = { .source = o->source };
	int r = sink->file(sink->to, &seen, &setting.file, err);

	if (r < 0)
		return r;
	s->listen = sockets_listen_new("/proc");
	setting.listeners = sockets_listen_ask(s->listen);
	setting.own_netns = sockets_listen_netns(s->listen, (uint32_t)getpid());
	setting.clock_ns = time_now() - (int64_t)now();
	return sockets_decode_new(&s->decode, &setting, sink, err);
}

static int watch(struct sockets *s, const struct capture *c, struct error *err)
{
	struct capture_state state;
	int r = capture_ready(c, &state, err);

	while (r >= 0 && !capture_is_over(c, &state)) {
		int64_t wait = capture_wait_ns(c, &state) / NS_MS;

		r = ring_buffer__poll(s->ring, wait < LOOK_MS ? (int)wait : LOOK_MS);
		if (r >= 0 || r == -EINTR)
			r = ring_buffer__consume(s->ring);
		if (r < 0)
			return error_set(err, -r, "cannot read what was seen on sockets: %s",
					 strerror(-r));
		r = sockets_decode_until(s->decode, now() - ORDER_NS);
		state.seen.nr_seen = s->nr_seen;
		state.seen.nr_dropped = s->bpf->bss->nr_dropped;
		capture_tell(c, &state);
	}
	return r < 0 ? r : 0;
}

/* No program is attached any more: what is left is all there is. */
static void finish(struct sockets *s, struct losses *losses)
{
	sockets_bpf__detach(s->bpf);
	ring_buffer__consume(s->ring);
	losses->count[LOSS_SOCKET_CALLS_DROPPED] += s->bpf->bss->nr_dropped;
}

int sockets_record(const struct sockets_options *o, const struct capture *c, struct error *err)
{
	struct sockets s = { 0 };
	int r = open_all(&s, o, err), ended;

	if (r >= 0)
		r = start(&s, o, c->sink, err);
	if (r >= 0)
		r = watch(&s, c, err);
	if (s.decode) {
		finish(&s, c->sink->losses);
		ended = sockets_decode_end(s.decode);
		r = r < 0 ? r : ended;
	}
	if (s.listen)
		sockets_listen_free(s.listen);
	ring_buffer__free(s.ring);
	sockets_bpf__destroy(s.bpf);
	return r;
}
