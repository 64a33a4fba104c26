/* What the server answers: a status, a type, and bytes that are its own or constant. */
#ifndef CULPRIT_WEB_REPLY_H
#define CULPRIT_WEB_REPLY_H

#include <stdbool.h>

#include "base/buf.h"

struct reply {
	unsigned status;
	const char *type; /* a constant */
	struct buf body;  /* owned */
	struct str fixed; /* instead of body: constant bytes of the program */
	int file;         /* instead of body: a file of so many bytes; 0: none */
	uint64_t file_bytes;
	bool is_packed;        /* the bytes are gzip */
	char etag[40];         /* empty: none */
	char location[512];    /* of a redirect */
	char cookie[160];      /* to be set; empty: none */
	char disposition[160]; /* of a download; empty: shown */
};

void reply_done(struct reply *r);
/* {"error": a sentence}, which replaces what was there. */
void reply_error(struct reply *r, unsigned status, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
