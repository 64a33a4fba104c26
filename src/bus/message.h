/*
 * What agents, hubs and operators say to each other: a kind, some numbers and some texts. Of each
 * kind a table says how many there are and who may say it, so that nobody else looks.
 */
#ifndef CULPRIT_BUS_MESSAGE_H
#define CULPRIT_BUS_MESSAGE_H

#include "base/buf.h"
#include "bus/bus.h"

#define MESSAGE_BYTES ((size_t)5 << 20)
#define MESSAGE_NUMBERS 20
#define MESSAGE_TEXTS 16

/*	kind            numbers                                       texts
 * to a hub from anybody */
enum message_kind {
	/* role, epoch, lag_ms (of a hub)                              name, other names… */
	MESSAGE_HELLO = 1,
	/* epoch                                                       - : it goes for good */
	MESSAGE_BYE,

	/* to a hub from an agent or a hub below it */
	/* epoch, processes, tracepoints, overhead, bytes, agents below, silent below    losses */
	MESSAGE_PING,
	/* query, epoch, seq, from, until                              partial */
	MESSAGE_REPORT,
	/* query                                                       agent, sentence */
	MESSAGE_TELL,
	/* 1 there, 0 gone                                             names of agents below */
	MESSAGE_ROUTE,
	/* hops                                                        to, from, bytes, tenant; both
	   ways */
	MESSAGE_PASS,

	/* to a hub from an operator; the first number comes back with the reply */
	/* request, for_ns, is_mine                                    text, tracepoints */
	MESSAGE_INSTALL,
	MESSAGE_REMOVE, /* request, query */
	MESSAGE_LIST,   /* request */
	MESSAGE_PEERS,  /* request, from which on; the reply says where to go on */
	MESSAGE_COUNTS, /* request */
	/* request, query, one more than the last result that it has (0: nothing), wants the whole
	 */
	MESSAGE_WATCH,
	MESSAGE_READ,  /* query, seq: results up to there were taken */
	MESSAGE_ALIVE, /* - */

	/* from a hub */
	MESSAGE_WHO, /* say hello again */
	/* hub's epoch                                                 its name */
	MESSAGE_WELCOME,
	MESSAGE_ACK, /* epoch, seq: all up to there are safe */
	/* id, until                                                   text, tracepoints, tenant */
	MESSAGE_QUERY,
	/* -                                                           ids: no others stand */
	MESSAGE_STANDING,
	/* query                                                       why */
	MESSAGE_GONE,
	/* request, code, query                                        sentence */
	MESSAGE_REPLY,
	/* request, id, until, agents, silent, groups, rows  text, tracepoints, tenant, operator,
	   losses */
	MESSAGE_ITEM,
	/* request, role, since, heard, connected, reports, bytes, twice, late, missing, processes,
	 * tracepoints, overhead, resident, below, silent below         name, tenant, losses */
	MESSAGE_PEER,
	/* request, count                                              name */
	MESSAGE_COUNT,
	/* query, seq, from, until, whole, some were missed, agents, silent, piece, pieces  partial
	 */
	MESSAGE_RESULT,
	/* query                                                       agent, sentence */
	MESSAGE_TOLD,

	/* to a hub from an agent or a hub below it, again */
	MESSAGE_ENDED, /* query: it is gone, and all that was seen of it is reported */
	MESSAGE_NR
};

/* Texts are borrowed. */
struct message {
	enum message_kind kind;
	uint8_t nr_numbers, nr_texts;
	int64_t n[MESSAGE_NUMBERS];
	struct str t[MESSAGE_TEXTS];
};

/* Numbers and texts one after another: message_n(&m, 1, 2, 3). */
#define message_n(m, ...) \
	message_numbers((m), (const int64_t[]){ __VA_ARGS__ }, \
			sizeof((const int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))
void message_numbers(struct message *m, const int64_t *v, size_t nr);
void message_text(struct message *m, struct str text);

/* Whether the role may send this kind to a hub; BUS_HUB: of those below it. */
bool message_is_allowed(enum message_kind kind, enum bus_role role);
const char *message_name(enum message_kind kind);

void message_pack(struct buf *b, const struct message *m);
/* False: damaged, of no known kind, or without what the kind asks for. */
bool message_unpack(struct message *m, struct str bytes);

#endif
