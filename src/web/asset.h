/* The files of the page, which the build packs into the program. */
#ifndef CULPRIT_WEB_ASSET_H
#define CULPRIT_WEB_ASSET_H

#include <stddef.h>

struct asset {
	const char *path, *type;
	const unsigned char *packed; /* gzip */
	size_t bytes;
	const char *etag; /* of the content */
};

extern const struct asset assets[]; /* ends with a zero path */

#endif
