#include "capture/probe/image.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"

#define PAGE 4096u
#define SEGMENTS_MAX 64
#define REACH (((uint64_t)1 << 31) - (1 << 20)) /* of a jump, with something left over */
#define HEAP_ROOM ((uint64_t)256 << 20)
#define LOWEST 0x20000u

static void line_read(struct image *im, const char *line)
{
	unsigned major, minor;
	uint64_t inode;
	char may[5];
	int at = 0;
	struct image_map m = { 0 };
	size_t n;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &m.start,
		   &m.end, may, &m.offset, &major, &minor, &inode, &at) < 7 ||
	    !at)
		return;
	n = strcspn(line + at, "\n");
	m.path = arena_z(&im->arena, (struct str){ line + at, n });
	m.is_code = may[2] == 'x';
	m.is_writable = may[1] == 'w';
	if (inode)
		m.file = ((uint64_t)major << 52 | (uint64_t)minor << 40) ^ inode;
	vec_push(&im->maps, m);
}

/* From the head of the file, as it lies in memory. */
static void module_read(struct image *im, size_t nr, int mem)
{
	const struct image_map *first = &im->maps.v[nr], *last = first;
	struct image_module m = { .path = first->path, .low = first->start };
	Elf64_Phdr segments[SEGMENTS_MAX];
	Elf64_Ehdr head;
	uint64_t base = UINT64_MAX, code = 0;

	if (pread(mem, &head, sizeof(head), (off_t)first->start) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
		return;
	m.is_64bit = head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_machine == EM_X86_64;
	for (size_t i = nr; i < im->maps.nr; i++)
		if (im->maps.v[i].file == first->file &&
		    strcmp(im->maps.v[i].path, first->path) == 0)
			last = &im->maps.v[i];
	m.high = last->end;
	if (m.is_64bit && head.e_phentsize == sizeof(*segments) && head.e_phnum <= SEGMENTS_MAX &&
	    pread(mem, segments, head.e_phnum * sizeof(*segments),
		  (off_t)(first->start + head.e_phoff)) ==
		    (ssize_t)(head.e_phnum * sizeof(*segments))) {
		for (size_t i = 0; i < head.e_phnum; i++) {
			const Elf64_Phdr *s = &segments[i];

			if (s->p_type != PT_LOAD)
				continue;
			if (s->p_vaddr - s->p_offset < base && s->p_offset < PAGE)
				base = (s->p_vaddr - s->p_offset) & ~(uint64_t)(PAGE - 1);
			if (s->p_flags & PF_X && s->p_filesz == s->p_memsz)
				code = s->p_vaddr + s->p_filesz;
		}
		if (base == UINT64_MAX)
			return;
		m.bias = first->start - base;
		if (code) {
			m.slack = (m.bias + code + 15) & ~(uint64_t)15;
			m.nr_slack = (PAGE - m.slack % PAGE) % PAGE;
		}
	}
	vec_push(&im->modules, m);
}

#define VDSO_SLACK 128

extern const uint8_t probe_borrow[], probe_borrow_end[];

/* Zeros at the end of the code that the kernel gives to each process, or what we have written there
 * before (borrow.S): for programs that have no room themselves. */
static void vdso_read(struct image *im, const struct image_map *m, int mem)
{
	uint8_t end[VDSO_SLACK], sum = 0;
	uint64_t at = m->end - sizeof(end);

	if (pread(mem, end, sizeof(end), (off_t)at) != sizeof(end))
		return;
	for (size_t i = 0; i < sizeof(end); i++)
		sum |= end[i];
	if (!sum || memcmp(end, probe_borrow, (size_t)(probe_borrow_end - probe_borrow)) == 0)
		im->vdso = at;
}

int image_read(struct image *im, int pid, int mem, struct error *err)
{
	cleanup(fclose) FILE *f = NULL;
	cleanup(free) char *line = NULL;
	char path[32];
	size_t room = 0;

	*im = (struct image){ 0 };
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return error_set(err, errno, "cannot read '%s': %s", path, strerror(errno));
	while (getline(&line, &room, f) > 0)
		line_read(im, line);
	for (size_t i = 0; i < im->maps.nr; i++)
		if (im->maps.v[i].file && im->maps.v[i].offset == 0 &&
		    im->maps.v[i].path[0] == '/' && !im->maps.v[i].is_writable &&
		    (!i || im->maps.v[i - 1].file != im->maps.v[i].file))
			module_read(im, i, mem);
	vec_each (&im->maps, m)
		if (m->is_code && strcmp(m->path, "[vdso]") == 0)
			vdso_read(im, m, mem);
	return 0;
}

void image_done(struct image *im)
{
	vec_done(&im->maps);
	vec_done(&im->modules);
	arena_done(&im->arena);
}

const struct image_module *image_module(const struct image *im, const char *path)
{
	vec_each (&im->modules, m)
		if (strcmp(m->path, path) == 0)
			return m;
	return NULL;
}

const struct image_map *image_map_at(const struct image *im, uint64_t address)
{
	vec_each (&im->maps, m)
		if (address >= m->start && address < m->end)
			return m;
	return NULL;
}

/* Below the module first: above it a heap may want to grow. */
uint64_t image_room(const struct image *im, const struct image_module *m, uint64_t bytes)
{
	uint64_t lowest = m->high > REACH ? m->high - REACH : LOWEST, above = 0;

	if (lowest < LOWEST)
		lowest = LOWEST;
	for (size_t i = im->maps.nr; i-- > 0;) {
		uint64_t end = im->maps.v[i].start;
		uint64_t start = i ? im->maps.v[i - 1].end : LOWEST;

		if (end > m->low || start < lowest)
			start = start < lowest ? lowest : start;
		if (end <= m->low && end > start && end - start >= bytes + 2 * PAGE &&
		    end >= lowest)
			return (end - PAGE - bytes) & ~(uint64_t)(PAGE - 1);
	}
	vec_each (&im->maps, a) {
		uint64_t end = a + 1 < im->maps.v + im->maps.nr ? a[1].start : m->low + REACH;

		above = a->end + HEAP_ROOM;
		if (a->end >= m->high && above + bytes + PAGE <= end &&
		    above + bytes - m->low < REACH)
			return above & ~(uint64_t)(PAGE - 1);
	}
	return 0;
}
