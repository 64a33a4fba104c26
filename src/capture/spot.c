#include "capture/spot.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mem.h"
#include "capture/probe/relocate.h"

#define SEGMENTS_MAX 64
#define SIZE_MAX_READ 65536
#define BEHIND 64       /* bytes that follow a function */
#define NEAR 0x1000000u /* code of ours is not farther away, mostly */

/* Where the address is in the file; false where the file does not hold it. */
static bool offset_of(int fd, uint64_t address, uint64_t *offset)
{
	Elf64_Ehdr head;
	Elf64_Phdr v[SEGMENTS_MAX];
	size_t nr;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64)
		return false;
	nr = head.e_phnum < SEGMENTS_MAX ? head.e_phnum : SEGMENTS_MAX;
	if (pread(fd, v, nr * sizeof(*v), (off_t)head.e_phoff) != (ssize_t)(nr * sizeof(*v)))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (v[i].p_type == PT_LOAD && address - v[i].p_vaddr < v[i].p_filesz) {
			*offset = address - v[i].p_vaddr + v[i].p_offset;
			return true;
		}
	return false;
}

void spot_path(int pid, const char *module, char path[SPOT_PATH])
{
	snprintf(path, SPOT_PATH, "/proc/%d/root%s", pid, module);
}

static int file_open(int pid, const char *module)
{
	char path[SPOT_PATH];

	spot_path(pid, module, path);
	return open(path, O_RDONLY | O_CLOEXEC);
}

int spot_offset(int pid, const char *module, uint64_t address, uint64_t *offset, struct error *err)
{
	cleanup(close_fd) int fd = file_open(pid, module);

	if (fd < 0 || !offset_of(fd, address, offset))
		return error_set(err, ENOENT, "its file cannot be read");
	return 0;
}

int spot_find(struct spot *s, int pid, const char *module, uint64_t address, uint64_t size,
	      struct error *err)
{
	cleanup(close_fd) int fd = file_open(pid, module);
	cleanup(free) uint8_t *bytes = NULL;

	if (fd < 0 || !offset_of(fd, address, &s->at))
		return error_set(err, ENOENT, "its file cannot be read");
	if (size > SIZE_MAX_READ)
		return error_set(err, ENOTSUP, "it is too long to tell where it ends");
	bytes = mem_alloc(size + 1);
	if (pread(fd, bytes, size, (off_t)s->at) != (ssize_t)size)
		return error_set(err, ENOENT, "its file cannot be read");
	s->nr_outs = ways_out(bytes, size, address, s->outs);
	if (!s->nr_outs)
		return error_set(err, ENOTSUP, "where it ends cannot be told");
	return 0;
}

bool spot_is_patchable(const char *path, uint64_t address, uint64_t size)
{
	uint64_t nr = size < SIZE_MAX_READ ? size : SIZE_MAX_READ, at = 0;
	cleanup(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	cleanup(free) uint8_t *bytes = mem_zalloc(nr + BEHIND);
	struct relocator how = { 0 };
	struct relocated r;
	enum probe_why why;

	if (fd < 0 || !offset_of(fd, address, &at) ||
	    pread(fd, bytes, nr + BEHIND, (off_t)at) < (ssize_t)nr)
		return true;
	why = relocate(&how, bytes, nr, nr + BEHIND, address, address + NEAR, RELOCATE_FRONT, &r);
	relocator_done(&how);
	return why == WHY_NONE;
}
