/* What the system knows of a process that may be a JVM: whether it is one, who it is to itself,
 * whose it is, and whether it stands still. */
#ifndef CULPRIT_CAPTURE_JVM_TARGET_H
#define CULPRIT_CAPTURE_JVM_TARGET_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/str.h"

struct buf;
struct error;

enum jvm_kind { JVM_NONE, JVM_HOTSPOT, JVM_OPENJ9 };

struct jvm_target {
	int pid;
	int own_pid; /* in the innermost PID namespace: as the process itself knows it */
	uid_t uid;   /* effective, as its checks are made with */
	gid_t gid;
	bool is_stopped; /* by a signal, or by a debugger */
	bool takes_quit; /* SIGQUIT has a handler, and does not end it */
};

/* The text of /proc/PID/status; false when something is missing there. */
bool jvm_target_parse(struct str status, struct jvm_target *t);
int jvm_target_read(int pid, struct jvm_target *t, struct error *err);
/* The text of /proc/PID/maps. */
enum jvm_kind jvm_kind_of(struct str maps);
enum jvm_kind jvm_kind(int pid);
/* Whether its program is one of a JDK that make a machine: their library lies beside them. */
bool jvm_is_launcher(int pid);
/* Whether a thread of this name is in the process. */
bool jvm_has_thread(int pid, struct str name);
/* Whether the machine may be complete, so that its program runs: false before its last own thread
 * is there; where threads have no names (early JDK 8) as soon as it has some. */
bool jvm_may_be_made(int pid);
/* … and its number; 0: there is none. */
int jvm_thread(int pid, struct str name);
/* A file of /proc/PID, whole; -errno. */
int jvm_proc_read(int pid, const char *name, struct buf *text);
/* A path as the process sees it, symbolic links too: opened below its root; -errno. */
int jvm_open_inside(int pid, const char *path, int flags);
/* Whether the process sees the same files by the same names as we do. */
bool jvm_sees_our_files(int pid);

#endif
