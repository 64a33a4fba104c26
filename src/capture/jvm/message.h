/* The words of HotSpot's attach protocol, version 1, which every JDK since 6 understands: an order
 * is "1", a name and three arguments, each ended by a zero; the answer is a status, a line end and
 * text. */
#ifndef CULPRIT_CAPTURE_JVM_MESSAGE_H
#define CULPRIT_CAPTURE_JVM_MESSAGE_H

#include "base/str.h"

struct buf;
struct error;

#define JVM_ARGUMENTS 3
#define JVM_ARGUMENT_BYTES 1024 /* HotSpot refuses what is longer */

/* Arguments that are NULL are empty. */
int jvm_message(struct buf *out, const char *name, const char *const arguments[JVM_ARGUMENTS],
		struct error *err);
/* The text behind a status of 0. */
int jvm_answer(struct str reply, struct str *text, struct error *err);
/* What a library's Agent_OnAttach returned, which "load" answers in one of two ways. EAGAIN: it is
 * too early for that. */
int jvm_answer_load(struct str reply, int64_t *returned, struct error *err);

#endif
