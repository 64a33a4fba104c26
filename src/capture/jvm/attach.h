/*
 * Speaks to a running JVM (HotSpot) as jcmd does, and has it load a library of ours. The JVM is a
 * process of this host, in any namespace, of any user if we are root. It is never sent a signal
 * that could end it, and nothing waits for ever.
 */
#ifndef CULPRIT_CAPTURE_JVM_ATTACH_H
#define CULPRIT_CAPTURE_JVM_ATTACH_H

struct buf;
struct error;

/* Whether the process is a JVM: has libjvm.so in it. */
int jvm_is(int pid);
/* Loads a native agent: path absolute, as the JVM sees it (library.h finds it); options are what
 * its Agent_OnAttach is given. An agent that returns something else than 0 is a failure
 * (ECANCELED). */
int jvm_attach_load(int pid, const char *path, const char *options, struct error *err);
/* Its system properties, as java.util.Properties writes them: a name=value a line. */
int jvm_properties(int pid, struct buf *out, struct error *err);

#endif
