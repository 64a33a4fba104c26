/* Lets a variable give back what it owns when it goes out of scope. */
#ifndef CULPRIT_BASE_CLEANUP_H
#define CULPRIT_BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define cleanup(f) __attribute__((cleanup(cleanup_##f)))

static inline void cleanup_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}

#endif
