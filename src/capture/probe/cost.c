#include "capture/probe/cost.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/probe/remote.h"
#include "wire/probe_region.h"

#define ROUNDS 60
#define CALLS 1000 /* all together fewer than a ring holds */
#define TCB_WORDS 512

struct here {
	struct probe_region *region;
	struct probe_own *own;
	uint8_t *code;
	uint64_t region_bytes, code_bytes;
};

static void *memory(uint64_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* As remote.c finds it for others. */
__attribute__((no_sanitize("address"))) static uint64_t own_offset(void)
{
	const volatile uint32_t *tcb = __builtin_thread_pointer();
	uint32_t tid = (uint32_t)syscall(SYS_gettid);

	for (size_t i = 4; i < TCB_WORDS; i++)
		if (tcb[i] == tid)
			return i * 4;
	return 0;
}

/* A function that only returns, and its stub, behind our code. */
static void code_fill(const struct here *h, uint64_t offset)
{
	struct probe_code *head = (void *)h->code;
	uint8_t *stub = h->code + remote_code_bytes();
	uint64_t enter = (uint64_t)h->code + remote_code()->enter;
	int32_t back = 64 - 11;

	memcpy(h->code, remote_code(), remote_code_size());
	head->region = h->region;
	head->own = h->own;
	head->tid_offset = offset;
	head->nr_rings = 1;
	/* push $1; call *64(stub); lea 8(%rsp), %rsp; ret */
	memcpy(stub, "\x68\x01\x00\x00\x00\xff\x15", 7);
	memcpy(stub + 7, &back, 4);
	memcpy(stub + 11, "\x48\x8d\x64\x24\x08\xc3", 6);
	memcpy(stub + 64, &enter, 8);
	stub[128] = 0xc3;
}

static uint64_t ticks_of(void (*f)(void))
{
	uint64_t from = ticks_now();

	for (int i = 0; i < CALLS; i++)
		f();
	return ticks_now() - from;
}

static double more(uint64_t with, uint64_t without)
{
	return with > without ? (double)(with - without) / CALLS : 0;
}

static struct cost measure(const struct here *h)
{
	struct probe_ring *ring = (void *)((char *)h->region + PROBE_RINGS_AT);
	uint8_t *stub = h->code + remote_code_bytes();
	uint64_t with = UINT64_MAX, without = UINT64_MAX, paused = UINT64_MAX;

	/* no page is to be seen for the first time */
	memset(ring->records, 0, sizeof(ring->records));
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t a = ticks_of((void (*)(void))(uintptr_t)(stub + 128));
		uint64_t b = ticks_of((void (*)(void))(uintptr_t)stub), c;

		h->region->alive_until = UINT64_MAX;
		c = ticks_of((void (*)(void))(uintptr_t)stub);
		h->region->alive_until = 0;
		without = a < without ? a : without;
		paused = b < paused ? b : paused;
		with = c < with ? c : with;
		ring->tail = ring->head;
	}
	return (struct cost){ more(with, without), more(paused, without) };
}

struct cost cost_measure(const struct ticks *t)
{
	struct here h = { .region_bytes = PROBE_RINGS_AT + PROBE_RING_BYTES,
			  .code_bytes = remote_code_bytes() + 4096 };
	uint64_t offset = own_offset();
	struct cost cost = { 0 };

	h.region = memory(h.region_bytes);
	h.own = memory(sizeof(*h.own));
	h.code = memory(h.code_bytes);
	if (h.region && h.own && h.code && offset) {
		code_fill(&h, offset);
		if (mprotect(h.code, h.code_bytes, PROT_READ | PROT_EXEC) == 0)
			cost = measure(&h);
	}
	if (h.region)
		munmap(h.region, h.region_bytes);
	if (h.own)
		munmap(h.own, sizeof(*h.own));
	if (h.code)
		munmap(h.code, h.code_bytes);
	return (struct cost){ cost.call_ns * t->rate, cost.paused_ns * t->rate };
}
