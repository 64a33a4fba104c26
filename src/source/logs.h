/* What a log file is made of, for those who read whole files and those who read parts of them. */
#ifndef CULPRIT_SOURCE_LOGS_H
#define CULPRIT_SOURCE_LOGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct error;
struct input;
struct layout;
struct layout_worker;
struct sink;
struct source_options;
struct namers;
struct statements;

/* What is known of a log beside its lines; borrowed. */
struct logs_about {
	const char *path;
	int64_t mtime_ns;
	struct str head, kin; /* its first bytes; those of a larger file of the same log */
};

struct logs {
	struct layout *layout;
	struct layout_worker *looker;        /* of the one thread that cuts */
	const struct statements *statements; /* NULL: not asked for */
	const struct namers *namers;
	bool has_more;   /* events say things in later lines */
	bool is_settled; /* times are completed as they are read */
	uint32_t file;
};

int logs_open(struct logs *logs, const struct logs_about *about, const struct source_options *o,
	      struct error *err);
void logs_close(struct logs *logs);
/* What a sink is told of the file; borrowed from both. */
struct file_seen;
void logs_seen(const struct logs *logs, const struct input *in, struct file_seen *seen);
/* Delivers events, counted from the first byte and line of the input. */
int logs_read(struct logs *logs, struct input *in, unsigned cores, struct sink *sink,
	      struct error *err);
/* Where the first and the last event of these whole lines begin, no line beyond near being looked
 * at; bytes.n when none does. */
size_t logs_first(const struct logs *logs, struct str bytes);
size_t logs_last(const struct logs *logs, struct str bytes, size_t near);
/* Where these whole lines may be parted, so that no event is: where the last one begins, which may
 * go on behind them; bytes.n when that is not known. */
size_t logs_cut(const struct logs *logs, struct str bytes);

#endif
