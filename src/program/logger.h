/* Knows a call that logs when it sees one: level, message, arguments, and the name of the logger.
 */
#ifndef CULPRIT_PROGRAM_LOGGER_H
#define CULPRIT_PROGRAM_LOGGER_H

#include "model/level.h"
#include "program/scope.h"
#include "program/wording.h"

struct log_call {
	enum level level;
	bool has_receiver;
	enum format_style style;
	struct where message;
	struct where args[16]; /* of the format; the last may be an array */
	uint32_t nr_args;
	bool has_error; /* an exception is logged too */
};

/* Whether the name alone could be that of a logging call; cheap. */
bool logger_may_log(struct str method_name);
/* Whether the call logs; fills *c. */
bool logger_is_call(struct where call, struct log_call *c);
/* The text that the call logs. */
struct text logger_text(struct wording *w, const struct log_call *c);
/* Its logger, such as "org.apache.hadoop.hdfs.StateChange"; empty when unknown. "*" behind the name
 * of a class: or that of a class below it, as with getLogger(getClass()). */
struct str logger_name(struct where call, struct arena *a);

#endif
