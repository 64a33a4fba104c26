/* How serious a log line is, one scale for all layouts. */
#ifndef CULPRIT_MODEL_LEVEL_H
#define CULPRIT_MODEL_LEVEL_H

#include "base/str.h"

enum level {
	LEVEL_NONE,
	LEVEL_TRACE,
	LEVEL_DEBUG,
	LEVEL_INFO,
	LEVEL_WARN,
	LEVEL_ERROR,
	LEVEL_FATAL
};

/* The level that a word means in any of the usual spellings (WARNING, E, notice, crit …), or
 * LEVEL_NONE. */
enum level level_of(struct str word);
const char *level_name(enum level level);

#endif
