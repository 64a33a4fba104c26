/*
 * What threads carry, as a header of HTTP in the form of the W3C: "baggage: culprit=…", where the
 * bag stands in the letters of base64url. What else stands there is kept.
 *
 * Headers are set and read by methods of the program's own objects, of whatever library: the first
 * of some names that the object's class has. Those of gRPC (Metadata) are named by objects.
 */
#ifndef CULPRIT_AGENT_JVM_HEADER_H
#define CULPRIT_AGENT_JVM_HEADER_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>

#define HEADER_BYTES 8192 /* of the whole value, and … */
#define HEADER_ENTRIES 64 /* … entries: the most that W3C lets others count on */

/* --- the text, which needs no machine -----------------------------------------------------------
 */

/* was, or "", with this bag in place of the one that it had. How long it is in `to`, of
 * HEADER_BYTES + 1; -1: it would be too long, or have too many entries. */
long header_write(char *to, const char *was, const void *bag, size_t nr);
/* The bag in a header's value; 0: it is empty, or makes no sense; -1: there is none. */
long header_read(const char *value, void *bag, size_t room);

/* --- objects that have headers ------------------------------------------------------------------
 */

enum header_set {
	HEADER_SET,
	HEADER_NONE_THERE, /* it has no such header, which was asked for */
	HEADER_NOT_SET,    /* the object takes no headers, or too much stands there */
};

/* beside: only where such a header is there already. */
enum header_set header_set(JNIEnv *env, jobject to, const void *bag, size_t nr, bool beside);
/* How many bytes of a bag its header has; -1: there is none. */
long header_get(JNIEnv *env, jobject from, void *bag, size_t room);

#endif
