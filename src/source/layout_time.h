/* Formats of times in log lines: compiled from SimpleDateFormat letters, recognised, and read. */
#ifndef CULPRIT_SOURCE_LAYOUT_TIME_H
#define CULPRIT_SOURCE_LAYOUT_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "source/layout_zone.h"

struct losses;

#define LAYOUT_TIME_OPS 28
#define LAYOUT_TIME_PREFIX 24 /* bytes of date, hour and minute that a clock remembers */

/* One part of a format: what it is, how many digits exactly (0: as many as there are), or the byte.
 */
struct layout_time_op {
	uint8_t part, width;
	char byte;
};

enum layout_lack {
	LACK_NOTHING,
	LACK_YEAR,
	LACK_DATE,   /* only the time of the day */
	LACK_ORIGIN, /* counted from a moment that is not told, such as the boot */
};

struct layout_time {
	struct layout_time_op ops[LAYOUT_TIME_OPS];
	uint8_t nr;
	uint8_t lack;
	uint8_t prefix_ops, prefix_bytes; /* parts up to the minute and their usual bytes, or 0 */
	bool weak; /* so little that much else looks like it; stands only if nothing better does */
	bool lettered; /* stands right behind a letter: I0102 of glog */
	bool any_t;    /* a blank of it may be a T and the other way round */
	char fraction; /* the byte before the fraction, as the sample had it */
	uint8_t fraction_digits;
};

/* What one thread remembers from line to line: most lines are of the same minute as the one before.
 */
struct layout_clock {
	const struct layout_time *format;
	char prefix[LAYOUT_TIME_PREFIX];
	int64_t prefix_ns;
	struct layout_zone_cache zone;
	const struct layout_time *value_format; /* of times in JSON and logfmt values */
};

/* A time as it was written: of the wall clock unless zoned. */
struct layout_stamp {
	int64_t ns;
	uint8_t lack;
	bool zoned;    /* ns is UTC */
	bool doubtful; /* its zone has several meanings, or none that is known */
};

/* From the letters of SimpleDateFormat and DateTimeFormatter; false when they make no time. */
bool layout_time_compile(struct layout_time *t, struct str format);
/* The letters again, with the fraction as the sample had it. */
void layout_time_text(const struct layout_time *t, struct buf *b);
/* Does not look for a zone any more: no line of the sample has one. */
void layout_time_drop_zone(struct layout_time *t);
/* Whether it begins with the name of a month or of a day. */
bool layout_time_is_named(const struct layout_time *t);
/* Takes a time from the front of *s; clock may be NULL. */
bool layout_time_take(const struct layout_time *t, struct layout_clock *clock, struct str *s,
		      struct layout_stamp *stamp);
/*
 * The moment in UTC. One that lacks year, date or origin comes out in a year before 1700 that says
 * which (see layout_settle.c), because only the order of the lines can complete it.
 */
int64_t layout_time_ns(struct layout_clock *clock, const struct layout_zone *zone,
		       const struct layout_stamp *stamp, struct losses *losses);

/* The formats that are recognised without being told, in order of preference. */
struct layout_times;
struct layout_times *layout_times_new(void);
void layout_times_free(struct layout_times *times);
size_t layout_times_nr(const struct layout_times *times);
const struct layout_time *layout_times_at(const struct layout_times *times, size_t i);
enum {
	LAYOUT_TIMES_WEAK = 1,     /* also the weak ones */
	LAYOUT_TIMES_LETTERED = 2, /* only those behind a letter */
};
/* The first of those that match the most bytes at the front of s, or NULL; *bytes is how many. */
const struct layout_time *layout_times_match(const struct layout_times *times, struct str s,
					     unsigned kinds, size_t *bytes);
/* A whole value that is a time: text in any of the formats, or a number since the epoch. */
bool layout_times_value(const struct layout_times *times, struct layout_clock *clock, struct str s,
			struct layout_stamp *stamp);
/* A number since the epoch whose size tells its unit; false when it means no time near ours. */
bool layout_time_of_uint(uint64_t number, struct layout_stamp *stamp);
bool layout_time_of_number(double number, struct layout_stamp *stamp);

#endif
