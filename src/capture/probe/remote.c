#include "capture/probe/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mem.h"
#include "capture/probe/hold.h"

#define TCB_BYTES 4096u
#define AREA_MAX (1u << 20)
#define MAP_FIXED_HERE 0x100000 /* MAP_FIXED_NOREPLACE */

static const uint8_t code_bytes[] __attribute__((aligned(16))) = {
#include "capture/probe/guest.code.h"
};

const struct probe_code *remote_code(void)
{
	return (const void *)code_bytes;
}

uint64_t remote_code_size(void)
{
	return sizeof(code_bytes);
}

uint64_t remote_code_bytes(void)
{
	return (sizeof(code_bytes) + 4095) & ~(uint64_t)4095;
}

/* The line of /proc/PID/status, or of a thread, that begins so. */
static bool status_line(int pid, int tid, const char *name, char *out, size_t room)
{
	cleanup(fclose) FILE *f = NULL;
	char path[64], line[512];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, name, strlen(name)) == 0) {
			snprintf(out, room, "%s", line + strlen(name));
			return true;
		}
	return false;
}

int remote_check(int pid, struct error *err)
{
	char path[32], value[256];
	unsigned char head[20] = { 0 };
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT
			       ? error_set(err, ESRCH, "there is no process %d with a program", pid)
			       : error_set(err, errno,
					   "process %d may not be watched: %s (it must be yours, "
					   "or run as root)",
					   pid, strerror(errno));
	if (read(fd, head, sizeof(head)) != sizeof(head))
		head[4] = 0;
	close(fd);
	if (head[4] != 2 || head[18] != 62)
		return error_set(err, ENOTSUP,
				 "process %d is a 32-bit program or of another architecture; only "
				 "x86-64 can be watched",
				 pid);
	if (status_line(pid, pid, "TracerPid:", value, sizeof(value)) && atoi(value) > 0)
		return error_set(err, EBUSY, "process %d is being traced by process %d", pid,
				 atoi(value));
	if (status_line(pid, pid, "x86_Thread_features:", value, sizeof(value)) &&
	    strstr(value, "shstk"))
		return error_set(err, ENOTSUP,
				 "process %d has a shadow stack: its return addresses cannot be "
				 "replaced (GLIBC_TUNABLES=glibc.cpu.x86_shstk=off)",
				 pid);
	return 0;
}

int remote_map_code(struct tracee *t, const struct image *im, uint64_t at, uint64_t bytes,
		    struct error *err)
{
	struct tracee_call c = { .nr = SYS_mmap,
				 .args = { at, bytes, PROT_READ | PROT_EXEC,
					   MAP_PRIVATE | MAP_ANONYMOUS |
						   (at ? (uint64_t)MAP_FIXED_HERE : 0),
					   (uint64_t)-1, 0 } };
	int r = tracee_calls(t, im, &c, 1, err);

	if (r < 0)
		return r;
	if (c.result < 0 && c.result > -4096)
		return error_set(err, (int)-c.result, "process %d gives no memory for code: %s",
				 t->pid, strerror((int)-c.result));
	return 0;
}

/* The thread's number, as it knows it itself. */
static uint32_t own_tid(int pid, int tid)
{
	char value[256], *last;

	if (!status_line(pid, tid, "NSpid:", value, sizeof(value)))
		return (uint32_t)tid;
	last = strrchr(value, '\t');
	return (uint32_t)atoi(last ? last : value);
}

/* Where behind their thread pointers threads keep their numbers: the C library's secret, so most of
 * them decide. */
static int tid_offset(const struct tracee *t, uint64_t *offset, struct error *err)
{
	uint16_t votes[TCB_BYTES / 4] = { 0 };
	uint32_t tcb[TCB_BYTES / 4];
	size_t best = 0, nr = 0;

	vec_each (&t->threads, v) {
		uint32_t tid = own_tid(t->pid, v->tid);

		if (!v->is_stopped || !v->regs.fs_base || nr > 1000)
			continue;
		nr++;
		for (size_t got = TCB_BYTES; got; got = got > 1024 ? 1024 : 0)
			if (tracee_read(t, v->regs.fs_base, tcb, got) == 0) {
				for (size_t i = 4; i < got / 4; i++)
					votes[i] += tcb[i] == tid;
				break;
			}
	}
	for (size_t i = 4; i < TCB_BYTES / 4; i++)
		if (votes[i] > votes[best])
			best = i;
	if (!votes[best] || votes[best] < nr / 2)
		return error_set(err, ENOTSUP,
				 "the threads of process %d cannot be told apart: it has no C "
				 "library, or none that keeps thread numbers",
				 t->pid);
	*offset = best * 4;
	return 0;
}

static int region_map(struct family *f, int fd, uint64_t bytes, struct error *err)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);

	if (p == MAP_FAILED)
		return error_set(err, errno, "cannot map %llu bytes of buffers: %s",
				 (unsigned long long)bytes, strerror(errno));
	f->region = p;
	f->bytes = bytes;
	f->nr_rings = (uint32_t)((bytes - PROBE_RINGS_AT) / PROBE_RING_BYTES);
	f->fd = fd;
	return 0;
}

static int region_open(struct family *f, const struct tracee *t, int far, uint64_t bytes,
		       struct error *err)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", t->pid, far);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, errno, "cannot open '%s': %s", path, strerror(errno));
	return region_map(f, fd, bytes, err);
}

static int code_write(const struct family *f, const struct tracee *t, struct error *err)
{
	cleanup(free) uint8_t *copy = mem_alloc(sizeof(code_bytes));
	struct probe_code *head = (void *)copy;

	memcpy(copy, code_bytes, sizeof(code_bytes));
	head->region = (struct probe_region *)f->region->here;
	head->own = (struct probe_own *)f->region->own;
	head->tid_offset = f->region->tid_offset;
	head->nr_rings = f->region->nr_rings;
	if (tracee_write(t, f->code, copy, sizeof(code_bytes)) < 0)
		return error_set(err, EFAULT, "the memory of process %d cannot be written", t->pid);
	return 0;
}

int remote_enter(struct family *f, struct tracee *t, const struct image *im, uint32_t nr_rings,
		 struct error *err)
{
	uint64_t bytes = PROBE_RINGS_AT + nr_rings * PROBE_RING_BYTES, offset;
	uint64_t own = (sizeof(struct probe_own) + 4095) & ~(uint64_t)4095;
	struct tracee_call c[] = {
		{ .nr = SYS_memfd_create, .text = PROBE_REGION_NAME, .args = { 0, MFD_CLOEXEC } },
		{ .nr = SYS_ftruncate, .args = { 0, bytes }, .takes = 1, .takes_at = 0 },
		{ .nr = SYS_mmap,
		  .args = { 0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, 0, 0 },
		  .takes = 1,
		  .takes_at = 4 },
		{ .nr = SYS_mmap,
		  .args = { 0, own, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, (uint64_t)-1, 0 } },
		{ .nr = SYS_mmap,
		  .args = { 0, remote_code_bytes(), PROT_READ | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1, 0 } },
	};
	struct tracee_call shut = { .nr = SYS_close };
	size_t nr = sizeof(c) / sizeof(*c);
	int r = tid_offset(t, &offset, err);

	if (r == 0)
		r = tracee_calls(t, im, c, nr, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < nr; i++)
		if (c[i].result < 0 && c[i].result > -4096)
			r = error_set(
				err, (int)-c[i].result,
				"process %d does not let us in: %s (a limit on its memory, or "
				"a filter of its system calls)",
				t->pid, strerror((int)-c[i].result));
	if (r == 0)
		r = region_open(f, t, (int)c[0].result, bytes, err);
	shut.args[0] = (uint64_t)c[0].result;
	if (c[0].result >= 0 && r == 0)
		r = tracee_calls(t, im, &shut, 1, err);
	else if (c[0].result >= 0)
		tracee_calls(t, im, &shut, 1, NULL);
	if (r < 0)
		return r;
	f->region->magic = PROBE_REGION_MAGIC;
	f->region->version = PROBE_REGION_VERSION;
	f->region->nr_rings = nr_rings;
	f->region->bytes = bytes;
	f->region->here = (uint64_t)c[2].result;
	f->region->own = (uint64_t)c[3].result;
	f->region->own_bytes = own;
	f->region->code = (uint64_t)c[4].result;
	f->region->code_bytes = remote_code_bytes();
	f->region->leave = f->region->code + remote_code()->leave;
	f->region->tid_offset = offset;
	f->code = f->region->code;
	return code_write(f, t, err);
}

/* What looks at return addresses stays patched as long as some of them may be ours. */
static bool is_exit(const struct probe_patch *p)
{
	return p->what & (PROBE_WANT_UNWIND | PROBE_WANT_CATCH);
}

/* Takes back what an earlier session has patched, by its own list. */
static void patches_undo(const struct tracee *t, uint64_t region, uint32_t nr)
{
	struct probe_patch p;
	uint8_t now[PROBE_JUMP];

	for (uint32_t i = 0; i < nr && i < PROBE_FUNCTIONS; i++) {
		uint64_t at = region + offsetof(struct probe_region, patches) + i * sizeof(p);

		if (tracee_read(t, at, &p, sizeof(p)) == 0 && !is_exit(&p) &&
		    tracee_read(t, p.address, now, sizeof(now)) == 0 &&
		    memcmp(now, p.new, PROBE_JUMP) == 0)
			tracee_write(t, p.address, p.old, PROBE_JUMP);
	}
}

/* Whether what is there is ours, whole, and of this version. */
static bool is_same(const struct tracee *t, const struct probe_region *head, uint64_t here)
{
	cleanup(free) uint8_t *copy = mem_alloc(sizeof(code_bytes));
	size_t at = sizeof(struct probe_code);

	return head->version == PROBE_REGION_VERSION && head->here == here &&
	       head->code_bytes == remote_code_bytes() && head->nr_areas <= PROBE_AREAS &&
	       head->nr_patches <= PROBE_FUNCTIONS && head->nr_rings <= PROBE_THREADS &&
	       head->bytes == PROBE_RINGS_AT + head->nr_rings * PROBE_RING_BYTES &&
	       tracee_read(t, head->code, copy, sizeof(code_bytes)) == 0 &&
	       memcmp(copy + at, code_bytes + at, sizeof(code_bytes) - at) == 0;
}

/* is_lost: those that were planned and never made, with all stubs in them. */
static void areas_read(struct family *f, const struct tracee *t, bool *is_lost)
{
	uint64_t doors[2] = { f->code + remote_code()->enter, f->code + remote_code()->site };

	for (uint32_t i = 0; i < f->region->nr_areas && i < PROBE_AREAS; i++) {
		struct probe_area a = f->region->areas[i];

		if (!a.bytes) {
			f->nr_areas = i + 1;
			continue;
		}
		if (a.bytes > AREA_MAX || a.used > a.bytes || a.used < sizeof(doors))
			return;
		f->areas[i] = a;
		f->masters[i] = mem_alloc(a.bytes);
		f->nr_areas = i + 1;
		memset(f->masters[i], 0xcc, a.bytes);
		memcpy(f->masters[i], doors, sizeof(doors));
		is_lost[i] = tracee_read(t, a.start, f->masters[i], a.used) < 0;
	}
}

static bool has_stub(const struct family *f, const struct probe_patch *p, const bool *is_lost)
{
	for (uint32_t i = 0; i < f->nr_areas; i++)
		if (p->stub >= f->areas[i].start && p->stub < f->areas[i].start + f->areas[i].used)
			return !is_lost[i];
	return false;
}

static int family_take(struct family *f, const struct tracee *t, const struct image_map *m,
		       const struct probe_region *head, struct error *err)
{
	bool is_lost[PROBE_AREAS] = { 0 };
	char path[64];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", t->pid,
		 (unsigned long long)m->start, (unsigned long long)m->end);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (fstat(fd, &st) < 0 || (uint64_t)st.st_size < head->bytes ||
	    region_map(f, fd, head->bytes, err) < 0) {
		close(fd);
		return 0;
	}
	f->code = head->code;
	areas_read(f, t, is_lost);
	f->nr_patches = head->nr_patches;
	memcpy(f->patches, f->region->patches, f->nr_patches * sizeof(*f->patches));
	for (uint32_t i = 0; i < f->nr_patches; i++) {
		f->patches[i].is_on = 0;
		if (!has_stub(f, &f->patches[i], is_lost))
			continue;
		f->patches[i].is_on = is_exit(&f->patches[i]) ||
				      (f->patches[i].what & PROBE_WANT_HOLD && hold_is(f->region));
		*map_at(&f->by_origin, f->patches[i].origin) = i + 1;
	}
	return 1;
}

int remote_adopt(struct family *f, struct tracee *t, const struct image *im, struct error *err)
{
	cleanup(free) struct probe_region *head = mem_alloc(offsetof(struct probe_region, areas));

	vec_each (&im->maps, m) {
		if (strncmp(m->path, "/memfd:" PROBE_REGION_NAME,
			    strlen("/memfd:" PROBE_REGION_NAME)) != 0 ||
		    m->offset != 0 ||
		    tracee_read(t, m->start, head, offsetof(struct probe_region, areas)) < 0 ||
		    head->magic != PROBE_REGION_MAGIC)
			continue;
		if (head->session && head->session != (uint64_t)getpid() &&
		    kill((pid_t)head->session, 0) == 0)
			return error_set(err, EBUSY, "process %d is being watched already", t->pid);
		if (head->version != PROBE_REGION_VERSION)
			continue;
		/* who ended well has left nothing */
		if (head->session)
			patches_undo(t, m->start, head->nr_patches);
		if (is_same(t, head, m->start) && family_take(f, t, m, head, err) > 0)
			return 1;
	}
	return 0;
}
