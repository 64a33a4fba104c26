/* Something seen at a time, on a node, in a thread: a log line, a message, an event of a causal
 * graph. */
#ifndef CULPRIT_MODEL_EVENT_H
#define CULPRIT_MODEL_EVENT_H

#include <stdint.h>

#include "base/str.h"
#include "model/level.h"

struct mention;

enum event_kind {
	EVENT_LOG,     /* a log line with its continuation lines */
	EVENT_MESSAGE, /* sent from node to peer */
	EVENT_POINT,   /* an event of a causal graph: happened after the events named in after */
};

enum message_op { MESSAGE_SENT, MESSAGE_CALL, MESSAGE_RETURN };

/* How an event names the work that it belongs to, the surest last. */
enum key_kind {
	KEY_NONE,
	KEY_WORK,    /* an identifier in the text that looks like a piece of work: blk_1073,
			application_17_0001 */
	KEY_CALL,    /* a message id: ties a call to its return, no more */
	KEY_REQUEST, /* a request id in a field that says so */
	KEY_TRACE,   /* a trace id */
};

/* Plain data. All strings are borrowed: from the caller on the way in, from the store on the way
 * out. */
struct event {
	int64_t ns; /* NS_NONE when nothing tells the time */
	enum event_kind kind;
	enum level level;

	/* Where its raw text stands: bytes of the decompressed file, lines counted from 1. */
	uint32_t file;
	uint32_t nr_lines; /* 1 + continuation lines */
	uint64_t line, offset, length;

	struct str node, thread;
	struct str point; /* logger, file:line, tracepoint: the place in the program that made it */

	enum key_kind key_kind;
	struct str key;   /* the name of its request, if it carries one */
	struct str span;  /* the span that it belongs to, if it says so */
	struct str title; /* the text with its variable parts masked; only where key or duration is
			     set */
	int64_t duration; /* what the line itself says the work took, ending at ns; -1 for nothing
			   */

	/* Only on the way from a source, and only where the program's statements are known. */
	uint32_t statement; /* the log statement that wrote it, from 1; 0 for none */
	struct str values;  /* what stands in it, packed by whoever knows the statements */
	/* Likewise, where it was asked for: what it names, which events of one delivery share that
	 * name the same. Count, times and file are set by who takes it. */
	struct mention *mention;

	/* EVENT_MESSAGE and EVENT_POINT */
	enum message_op op;
	struct str peer;  /* receiver of a message; process of a causal event */
	struct str id;    /* of the message or event */
	struct str after; /* ids that happened before, each as buf_bytes */

	struct str attrs; /* packed, model/attr.h */
	struct str text;  /* only where no raw line shows it (events inside traces) */
};

#endif
