/* Learns programs and gives their model as the bytes of its file, telling each step. */
#ifndef CULPRIT_CLI_LEARN_IMAGE_H
#define CULPRIT_CLI_LEARN_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct error;

struct learn_asked {
	unsigned threads; /* 0: one for each core */
	bool is_told;     /* each step, even where there is no terminal */
};

int learn_image(const char *const *paths, size_t nr, const struct learn_asked *asked,
		struct buf *image, struct error *err);

#endif
