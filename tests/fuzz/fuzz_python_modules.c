/* Sources of Python whose imports are followed: whatever they say, files are told by paths that are
 * not empty, and only files that are there. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model/loss.h"
#include "program/python_modules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(void *ctx, const char *path)
{
	(void)ctx;
	if (!path[0] || access(path, F_OK))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const folders[] = { "/proc/self/fd", "/nowhere" };
	struct losses losses = { 0 };
	struct python_modules m = { folders, 2, check, NULL, &losses };
	char path[64];
	int fd = memfd_create("source", 0);

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write(fd, data, size) == (ssize_t)size) {
		python_modules_of_script(&m, path);
		python_modules_of_module(&m, (struct str){ (const char *)data, size });
	}
	close(fd);
	return 0;
}
