/* What the modules of the layout share among themselves: a kind of layout, and its state. */
#ifndef CULPRIT_SOURCE_LAYOUT_KIND_H
#define CULPRIT_SOURCE_LAYOUT_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"
#include "source/layout.h"
#include "source/layout_names.h"
#include "source/layout_time.h"
#include "source/layout_zone.h"

struct event;
struct layout_known;
struct losses;

/* Lines from the head of a file, without colours, blank ones left out. */
struct layout_sample {
	struct str *lines;
	size_t nr;
	unsigned depth; /* 0 for a file, 1 for what stands inside the lines of another layout */
};

/* Whether so many are at least that many percent of all; never when there is none. */
static inline bool layout_most(size_t nr, size_t all, unsigned percent)
{
	return nr && nr * 100 >= all * percent;
}

/* One way to write lines. Adding one is a file, and a line in the table of layout.c. */
struct layout_kind {
	const char *name;
	/* Whether most of the sample is of this kind; then fills layout->own and ->pattern. */
	bool (*learn)(struct layout *layout, const struct layout_sample *sample);
	int (*parse)(const struct layout *layout, struct layout_worker *worker, struct str line,
		     struct arena *arena, struct event *ev, struct losses *losses);
	/* The last three may be NULL. */
	void (*more)(const struct layout *layout, struct layout_worker *worker, struct str line,
		     struct arena *arena, struct event *ev, struct losses *losses);
	bool (*begins)(struct str line, struct str line_before); /* an event of several lines */
	void (*done)(struct layout *layout);
};

/* What settling a file remembers from batch to batch. */
struct layout_settling {
	bool began;
	unsigned lacks;  /* what base_ns completes: a year, a date or an origin */
	int64_t last_ns; /* the latest moment so far, complete */
	int64_t base_ns; /* midnight of the day, New Year, or origin that is being completed with */
	int64_t last_part;   /* what was added to it last */
	unsigned head_wraps; /* how often days or years began anew in the sample */
	int64_t head_last;   /* last moment of the sample, incomplete as it is */
};

struct layout {
	const struct layout_kind *kind;
	struct layout_zone zone;
	struct layout_settling settling;
	struct str node;
	int64_t mtime_ns;
	/* what durations are in that name no unit: those with a fraction, and the others; 0:
	 * unknown */
	int64_t fraction_ns, whole_ns;
	bool is_bare; /* see layout_hints */
	struct layout_times *times;
	struct arena arena;
	struct buf pattern;
	void *own; /* of the kind, in the arena */
};

/* A duration without a unit, or none of these. */
enum layout_bare { BARE_NOT, BARE_FRACTION, BARE_WHOLE };

#define LAYOUT_INNER_MAX 64

/* A value of several lines whose length stands in front of it. */
struct layout_binary {
	bool is_open;
	struct str name;
	unsigned nr_length; /* bytes of the length read so far */
	uint64_t left;
};

struct layout_text {
	struct str message;
	struct str naming; /* the message and the values beside it; empty when there are none */
};

struct layout_worker {
	const struct layout *layout;
	struct json *json;
	struct layout_clock clock;
	struct layout_binary binary;
	struct layout_names names;
	enum layout_bare bare;      /* how the last duration was written */
	bool by_digits;             /* of the last duration looked for: its digits decided */
	struct layout_known *known; /* made on first use */
	unsigned expects;           /* what the next line of an event of several lines is */
	struct buf pairs;           /* values of the line that are no part of its message */
	struct layout_text text;    /* of the last event … */
	struct layout_text
		*said; /* … or that of the worker around this one: where it is to be put */
	struct layout_worker *inner[LAYOUT_INNER_MAX];
};

extern const struct layout_kind layout_access, layout_compose, layout_cri, layout_docker,
	layout_journal, layout_json, layout_learned, layout_logfmt, layout_slow, layout_syslog,
	layout_table;

/* Learns from what stands inside other lines; NULL when it shows nothing. */
struct layout *layout_learn_inner(const struct layout *outer, const struct layout_sample *sample);
/* The inner layout's worker, made on first use. */
struct layout_worker *layout_worker_inner(struct layout_worker *worker, unsigned nr,
					  const struct layout *inner);

/* The moment of a stamp. */
int64_t layout_ns(const struct layout *layout, struct layout_worker *worker,
		  const struct layout_stamp *stamp, struct losses *losses);
/* Empties *ev but for the defaults. */
void layout_event_begin(const struct layout *layout, struct event *ev);
/* From the message: the name of the request and how long it took, if no field told it, and a title
 * where one is needed. */
void layout_event_finish(struct layout_worker *worker, struct event *ev, struct str message,
			 struct arena *arena);
/* The text without colour sequences; the text itself when it has none. */
struct str layout_plain(struct str text, struct arena *arena);
/* Whether a line looks like it goes on with another: a stack trace, an indented line. */
bool layout_is_continuation(struct str line);

#endif
