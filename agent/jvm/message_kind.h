/* Classes of messages of protocol buffers, and what is called of them. Used by message.c only. */
#ifndef CULPRIT_AGENT_JVM_MESSAGE_KIND_H
#define CULPRIT_AGENT_JVM_MESSAGE_KIND_H

#include <jni.h>

/* Of a message's class; kept for good, as there are few of them. What may be missing is NULL. */
struct message_kind {
	jweak class;
	jmethodID bytes, parse;           /* toByteArray, parseFrom(byte[]) */
	jmethodID unknown, unknown_bytes; /* getUnknownFields, and its toByteArray */
	/* faster ways to the same, all of them or none: */
	jweak nothing;            /* what messages have in which all is known, … */
	jweak sets;               /* … and its class */
	jfieldID set;             /* where those have it that have something */
	jmethodID unknown_parse;  /* a set of bytes */
	jmethodID builder, build; /* toBuilder, buildPartial */
	jmethodID set_to, merge;  /* setUnknownFields, mergeUnknownFields */
	jfieldID size;            /* … and its length, once that was asked for; may be missing */
};

/* NULL: it is none of protocol buffers. */
const struct message_kind *message_kind_of(JNIEnv *env, jobject message);

#endif
