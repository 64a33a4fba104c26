/* The files that follow.h knows of: met again or for the first time, gone, or copies of each other.
 */
#ifndef CULPRIT_SOURCE_FOLLOW_SET_H
#define CULPRIT_SOURCE_FOLLOW_SET_H

#include <sys/types.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "source/follow.h"
#include "source/follow_index.h"
#include "source/kin.h"
#include "source/rotation.h"

struct follow_reading;
struct stat;

#define FOLLOW_HEAD_BYTES 512 /* a few lines, and lines carry times: hardly ever the same twice */

struct followed {
	char *path;
	char *log;       /* directory and name without rotation: files of one log share it */
	size_t name_at;  /* where in the path the name begins that answers show */
	size_t arg;      /* by which it was found */
	uint64_t serial; /* from 1; another one when its content was replaced */
	uint64_t birth;  /* likewise, of the content: a copy has that of the original */
	dev_t dev;
	ino_t ino;
	uint64_t size;
	int64_t mtime_ns;
	int64_t grew; /* when that was last seen to change */
	int fd;       /* -1: cannot be opened, or too many are */
	bool is_here; /* met by the look that goes on */
	bool is_plain, is_text;
	uint64_t gone;      /* deleted but open still: the how-manieth; 0: no */
	uint64_t copy_of;   /* serial of another that begins with all of this; 0: none */
	uint64_t copy_size; /* for which that was found */
	uint64_t upto;      /* bytes to read, as taken */
	char head[FOLLOW_HEAD_BYTES];
	size_t head_n;
};

/* A content that was known and must be found elsewhere. */
struct follow_ghost {
	char *log;
	uint64_t size;
	char head[FOLLOW_HEAD_BYTES];
	size_t head_n;
	bool is_plain;
	unsigned nr_looks; /* since */
};

struct follow {
	struct follow_options o;
	const char *output_name;
	char *output_dir;
	VEC(struct followed *) files; /* in order */
	struct follow_index index;    /* of all of them, made anew by each look */
	VEC(struct follow_ghost) ghosts;
	VEC(struct followed *) taken;
	struct kin kin;
	VEC(struct follow_reading *) readings; /* of contents that are read on: follow_on.h */
	struct map reading_of;                 /* birth: the how-manieth of them, from 1 */
	uint64_t nr_serials, nr_gone, nr_lost;
	unsigned nr_open;
	bool changed, names_changed;
};

struct follow_met {
	const char *path;
	size_t name_at, arg;
	const struct stat *st;
};

/* A file that a look found. */
void follow_set_meet(struct follow *f, const struct follow_met *met, int64_t now);
/* Parts with those that were not found: they are kept while they are open. */
void follow_set_part(struct follow *f, int64_t now);
/* Finds copies within each log; files must be in order. */
void follow_set_compare(struct follow *f);
/* Gives up the oldest of those that are gone when they are too large together. */
void follow_set_limit(struct follow *f);
/* Contents that were found nowhere for two looks are lost. */
void follow_set_miss(struct follow *f);
void follow_set_forget(struct follow *f, struct followed *it);

/* The directory part of a path, "." when there is none; from malloc. */
char *follow_set_directory(struct str path);

/* A descriptor for a while: the one that is kept, or one of its own. */
struct follow_fd {
	int fd;
	bool is_own, is_other; /* is_other: another file has its name by now */
};
bool follow_set_open(const struct followed *it, struct follow_fd *at);
static inline void cleanup_follow_fd(struct follow_fd *at)
{
	if (at->is_own)
		close(at->fd);
}

#endif
