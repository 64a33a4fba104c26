/* What a watched process has written into the memory that it shares with us: whatever stands there,
 * what is told makes sense, and reading ends. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "capture/probe/relocate.h"
#include "capture/probe/rings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { RINGS = 2 };

static void must(bool holds)
{
	if (!holds)
		abort();
}

static int take_calls(void *to, const struct function_call *c, size_t nr, struct error *err)
{
	(void)err;
	*(uint64_t *)to += nr;
	for (size_t i = 0; i < nr; i++)
		must(c[i].end >= c[i].start && c[i].function < PROBE_FUNCTIONS);
	return 0;
}

static int take_marks(void *to, const struct mark *m, size_t nr, struct error *err)
{
	(void)err;
	*(uint64_t *)to += nr;
	for (size_t i = 0; i < nr; i++)
		must(m[i].function < PROBE_FUNCTIONS);
	return 0;
}

/* The bytes are what each ring begins with, in turns. */
static void read_rings(const uint8_t *data, size_t size, const struct ticks *ticks)
{
	uint64_t bytes = PROBE_RINGS_AT + RINGS * PROBE_RING_BYTES, nr = 0;
	struct probe_reader to = { &nr, take_calls, take_marks };
	struct rings_counts counts = { 0 };
	struct sites sites = { 0 };
	struct error err = { 0 };
	struct rings r;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	must(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 &&
	     rings_open(&r, fd, bytes, getpid(), &err) == 0);
	r.region->nr_claimed = RINGS + size % 2;
	for (size_t round = 0; round < 3; round++) {
		for (size_t i = 0; i < RINGS; i++) {
			size_t n = size / RINGS < 8192 ? size / RINGS : 8192;

			memcpy((char *)r.region + PROBE_RINGS_AT + i * PROBE_RING_BYTES,
			       data + i * n, n);
		}
		must(rings_read(&r, ticks, &sites, &to, &counts, &err) == 0);
	}
	must(nr == counts.nr_calls + counts.nr_marks);
	must(counts.nr_records <= 3 * RINGS * PROBE_RING_RECORDS);
	rings_close(&r);
	sites_done(&sites);
	map_done(&counts.processes);
}

/* The bytes are a function. */
static void move_it(const uint8_t *data, size_t size)
{
	struct relocator how = { 0 };
	struct relocated r;

	if (relocate(&how, data, size > 16 ? size - 16 : 0, size, 0x400000, 0x300000, 0, &r) ==
	    WHY_NONE)
		must(r.nr <= sizeof(r.code) && r.nr_old >= JUMP_BYTES &&
		     r.skip + r.nr_old <= size + JUMP_BYTES);
	relocator_done(&how);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ticks ticks;
	struct error err = { 0 };

	if (!ticks.v.nr && ticks_init(&ticks, &err) < 0)
		return 0;
	move_it(data, size < 4096 ? size : 4096);
	read_rings(data, size, &ticks);
	return 0;
}
