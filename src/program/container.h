/* The class files in jars, wars, jars within jars, folders, and single ones, in a fixed order and
 * still packed. */
#ifndef CULPRIT_PROGRAM_CONTAINER_H
#define CULPRIT_PROGRAM_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct container;
struct error;
struct losses;

#define CLASS_BYTES_MAX ((uint64_t)16 << 20)

/* One class file as it is stored. */
struct packed {
	char *path;    /* with the containers around it: "app.war!WEB-INF/lib/x.jar!a/B.class" */
	char *bytes;   /* both belong to the caller */
	size_t stored; /* bytes as stored, and as they are when unpacked */
	size_t size;
	uint32_t crc;
	uint16_t release; /* of a multi-release jar: from which Java on it counts; 0 always */
	bool is_deflated;
};

/* The paths are borrowed. A path that does not exist fails; what is damaged inside is counted. */
int container_open(struct container **c, const char *const *paths, size_t nr, struct losses *losses,
		   struct error *err);
void container_close(struct container *c);
/* 1 and the next class file, 0 at the end, negative failure. */
int container_next(struct container *c, struct packed *p, struct error *err);
/* How many containers were opened: jars, wars and folders. */
uint32_t container_nr_opened(const struct container *c);

/* The class itself, in the arena; false when the packed bytes are damaged. */
bool packed_unpack(const struct packed *p, struct arena *a, struct str *bytes);
void packed_done(struct packed *p);

#endif
