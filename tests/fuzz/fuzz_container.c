/* Jars and jars within jars: class files as large as they promise, or a count of what was wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "model/loss.h"
#include "program/container.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz.jar", MFD_CLOEXEC);
	struct losses losses = { 0 };
	struct error err = { 0 };
	struct container *c;
	struct packed p;
	char path[32];
	const char *paths[] = { path };

	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	must(!container_open(&c, paths, 1, &losses, &err));
	while (container_next(c, &p, &err) > 0) {
		struct arena a = { 0 };
		struct str bytes;

		must(p.size <= CLASS_BYTES_MAX && p.stored <= CLASS_BYTES_MAX && p.path);
		if (packed_unpack(&p, &a, &bytes))
			must(bytes.n == p.size);
		packed_done(&p);
		arena_done(&a);
	}
	must(container_nr_opened(c) || losses.count[LOSS_JARS_BROKEN]);
	container_close(c);
	close(fd);
	return 0;
}
