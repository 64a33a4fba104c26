/* What a process has mapped: its modules, where they lie, and what is free around them. */
#ifndef CULPRIT_CAPTURE_PROBE_IMAGE_H
#define CULPRIT_CAPTURE_PROBE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

struct error;

struct image_map {
	uint64_t start, end, offset;
	uint64_t file; /* device and inode, mixed; 0 for memory */
	const char *path;
	bool is_code, is_writable;
};

struct image_module {
	const char *path;
	uint64_t bias;            /* added to addresses of the file */
	uint64_t low, high;       /* of all its mappings */
	uint64_t slack, nr_slack; /* code pages behind the last of its code */
	bool is_64bit;
};

/* Zero is empty. */
struct image {
	struct arena arena;
	VEC(struct image_map) maps;
	VEC(struct image_module) modules;
	uint64_t vdso; /* where the kernel's own code ends in bytes that nobody uses, or 0 */
};

/* mem: /proc/PID/mem, open for reading. */
int image_read(struct image *im, int pid, int mem, struct error *err);
void image_done(struct image *im);
const struct image_module *image_module(const struct image *im, const char *path);
const struct image_map *image_map_at(const struct image *im, uint64_t address);
/* Where so many bytes are free that all of the module can reach; 0: nowhere. */
uint64_t image_room(const struct image *im, const struct image_module *m, uint64_t bytes);

#endif
