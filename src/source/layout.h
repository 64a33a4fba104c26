/*
 * What a log line says: finds out how a file writes its lines (from a sample, or from a log4j
 * pattern) and reads time, level, thread, logger, ids and duration of each.
 */
#ifndef CULPRIT_SOURCE_LAYOUT_H
#define CULPRIT_SOURCE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct arena;
struct error;
struct event;
struct layout;
struct layout_worker;
struct losses;

/* What is known of a file beside its text. Borrowed for the call only. */
struct layout_hints {
	struct str zone;  /* of times that name none: "+02:00", "UTC"; "" for the local one */
	int64_t mtime_ns; /* to guess missing years and dates; 0 when unknown */
	struct str node;  /* where lines happened that do not say it themselves */
	bool is_bare;     /* ids, durations and titles are not looked for in the text */
};

/* Learns from the first bytes of a file; -ENOENT when they show no log. */
int layout_learn(struct layout **layout, struct str head, const struct layout_hints *hints,
		 struct error *err);
/* From a log4j or logback pattern; -EINVAL and a sentence when it makes no sense. */
int layout_compile(struct layout **layout, const char *pattern, const struct layout_hints *hints,
		   struct error *err);
void layout_free(struct layout *layout);

const char *layout_name(const struct layout *layout); /* "pattern", "json", "syslog" … */
/* What was found, as a person would write it: "%d{yyyy-MM-dd HH:mm:ss,SSS} %p [%t] %c: %m". */
struct str layout_pattern(const struct layout *layout);
struct str layout_node(const struct layout *layout); /* of lines that do not say it themselves */

/* Parser state that one thread uses at a time: JSON parser, date cache. */
struct layout_worker *layout_worker_new(const struct layout *layout);
void layout_worker_free(struct layout_worker *worker);

/*
 * 1: an event begins with this line (without its line end); 0: it goes on with the one before.
 * Sets every field of *ev except kind, file, line, nr_lines, offset and length; strings borrow from
 * the line, the layout and the arena. Times without year or date are completed by layout_settle.
 */
int layout_parse(const struct layout *layout, struct layout_worker *worker, struct str line,
		 struct arena *arena, struct event *ev, struct losses *losses);

/* The message of the last event, as far as the lines so far hold it; may be the line's own bytes.
 */
struct str layout_message(const struct layout_worker *worker);
/* The same and, of lines that are named values, those that tell what it is about ("order=7"). */
struct str layout_naming(const struct layout_worker *worker);

/*
 * Layouts whose events say things in later lines (journald export, MySQL slow log): then call
 * layout_more for each line that layout_parse answered with 0, with the event it belongs to, and
 * cut chunks only where layout_cut says, so that event and line are in the same chunk.
 */
bool layout_has_more(const struct layout *layout);
void layout_more(const struct layout *layout, struct layout_worker *worker, struct str line,
		 struct arena *arena, struct event *ev, struct losses *losses);
/* Whether layout_parse knows by a line alone that an event begins. */
bool layout_shows_beginnings(const struct layout *layout);
/* Where the last event of these whole lines begins; bytes.n when any line end will do. */
size_t layout_cut(const struct layout *layout, struct str bytes);

/* In the order of the file, on one thread: completes times, counts those that go back. */
int layout_settle(struct layout *layout, struct event *events, size_t nr, struct losses *losses);

#endif
