/*
 * The memory that code of ours in a watched process shares with who watches it.
 *
 * The region is shared: a head, what is taken of each function, the list of patches, and a ring of
 * records for each thread. Beside it the process has memory of its own, which a fork copies: a
 * table of its threads, found by the thread pointer, and for each a stack of the calls that have
 * not ended. What outside reads of either was written by a stranger and is checked.
 */
#ifndef CULPRIT_WIRE_PROBE_REGION_H
#define CULPRIT_WIRE_PROBE_REGION_H

#include <stdint.h>

#include "wire/advice.h"
#include "wire/handover.h"

#define PROBE_REGION_NAME "culprit-probe"
#define PROBE_REGION_MAGIC 0x31656f6270706c63u
#define PROBE_REGION_VERSION 21

#define PROBE_FUNCTIONS 65536u
#define PROBE_THREADS 2048u       /* places in the table of threads; a power of two */
#define PROBE_DEPTH 4096u         /* calls of one thread that have not ended */
#define PROBE_RING_RECORDS 65536u /* a power of two */
#define PROBE_AREAS 256u
#define PROBE_GRAVES 64u
#define PROBE_CODES 1024u
#define PROBE_PAGES 64u        /* a power of two */
#define PROBE_KEPT 512u        /* calls under way of one thread whose arguments are kept */
#define PROBE_BAG_BYTES 8192u  /* what a thread carries (lib/advice/bag.h) */
#define PROBE_CARRY_FDS 16384u /* descriptors whose connections are known */
#define PROBE_CARRY_FD_BYTES 256u
#define PROBE_CARRY_ROOM_BYTES 16640u
#define PROBE_LEFT 512u
#define PROBE_BIRTHS 256u       /* threads that are being made */
#define PROBE_ADVICES 512u      /* pieces of advice at work, in all functions */
#define PROBE_ROW_WORDS 131072u /* of rows that wait; a power of two */
#define PROBE_TABLE_WORDS 16384u
#define PROBE_TABLE_SLOTS 2048u /* a power of two */

/* A call is told when it ends, in three words. The first word's upper bits say which kind. */
struct probe_record {
	uint64_t start; /* TSC; of a mark its only time */
	uint64_t end;   /* TSC; of a mark its value */
	uint64_t what;  /* the function in the low 16 bits, where it returned to above them;
			   of a mark PROBE_VALUED when it has a value */
};
#define PROBE_VALUED 0x10000u
#define PROBE_KIND_SHIFT 62
#define PROBE_KIND_MASK ((uint64_t)3 << PROBE_KIND_SHIFT)
#define PROBE_KIND_CALL 0
#define PROBE_KIND_UNWOUND 1
#define PROBE_KIND_ENTRY 2
#define PROBE_KIND_EXIT 3

/* Groups of rows, added up where they are made. Written by one thread; read, and emptied, while
 * that thread writes into the other one. */
struct probe_table {
	uint32_t nr_groups, nr_words;
	uint32_t slots[PROBE_TABLE_SLOTS]; /* 1 + the word where a group begins, by its hash */
	uint64_t words[PROBE_TABLE_WORDS];
};

/* What became of advice; each only grows. */
struct probe_tally {
	uint64_t nr_runs, nr_emitted, nr_packed;
	uint64_t nr_dropped;    /* rows for which there was no room */
	uint64_t nr_lost;       /* tuples that found no room in a bag */
	uint64_t nr_incomplete; /* runs that read what may not be all */
	uint64_t nr_cut;        /* rows and tuples with a text that was longer than is kept */
	uint64_t nr_mistyped, nr_beyond, nr_damaged; /* as struct advice_out has them */
	uint64_t nr_unread;                          /* inputs whose memory was not there */
	uint64_t nr_spilled;                         /* tuples that were told by themselves */
	uint64_t nr_deferred;                        /* runs that are to be finished */
	uint64_t nr_asleep;                          /* places passed while our code stood still */
};

/* Rows one behind another: before each stands a word, its length with what it is above 32. A word
 * that is 0 says that what follows begins anew. */
#define PROBE_ROW_SPILL \
	((uint64_t)1 << 32) /* struct spill_record, otherwise struct probe_group \
			     */

/* What advice of one thread has told. */
struct probe_results {
	uint64_t running; /* odd while advice is at work */
	struct probe_tally tally;
	uint64_t row_head; /* words ever written */
	uint64_t reserved[3];
	uint64_t row_tail; /* words ever read; alone in its line of the cache */
	uint64_t reserved_tail[7];
	uint64_t rows[PROBE_ROW_WORDS];
	struct probe_table tables[2]; /* by the region's epoch */
};

struct probe_ring {
	uint64_t owner; /* process and thread, 32 bits each; 0: free */
	uint64_t head;  /* records ever written */
	uint64_t nr_dropped, nr_too_deep, nr_unwound, nr_nested;
	uint64_t space; /* struct probe_own's of the owner */
	uint64_t reserved;
	uint64_t tail; /* records ever read; alone in its line of the cache */
	uint64_t reserved_tail[7];
	struct probe_record records[PROBE_RING_RECORDS];
	struct probe_results results;
};

/* How a value is found: see struct probe_take. */
struct probe_taking {
	uint8_t from, argument, nr_loads, bytes;
	int32_t offsets[4];
	uint32_t is_mark;
};

struct probe_taken {
	struct probe_taking at_entry, at_exit;
	uint32_t carry;     /* PROBE_WANT_CARRY: which call this is (guest/carry.h) */
	uint32_t arguments; /* bits of those that advice reads; 0: any */
};

/* What advice runs when a function begins, ends, or is left by an exception: 1 + the first piece,
 * 0: none. Changes while the program runs. */
struct probe_woven {
	uint16_t entry, exit, unwound, reserved;
};

/* In struct advice_taking of a site: number is that of the register, as DWARF has it. */
#define PROBE_FROM_REGISTER 16
/* … of a place that an agent in the process calls us from: which of the values that it found. */
#define PROBE_FROM_VALUE 17

#define PROBE_INPUTS 32u        /* of its own, that one piece of advice reads */
#define PROBE_ADVICE_EMPTIES 1u /* the thread's bag, before: a request begins */
#define PROBE_ADVICE_TIMES 2u   /* reads the time, or packs, which goes by it */

enum probe_text { PROBE_TEXT_HOST, PROBE_TEXT_PROCESS, PROBE_TEXT_TRACEPOINT, PROBE_TEXTS };

/* One piece of advice: what it reads, and the program. */
struct probe_advice {
	uint32_t is_used;
	uint16_t next; /* 1 + the piece that runs after this one at the same place */
	uint16_t flags;
	uint32_t which; /* of the query's, for who runs it elsewhere */
	uint8_t nr_inputs;
	uint8_t lengths[PROBE_TEXTS];
	uint8_t numbers[PROBE_INPUTS]; /* which input each of them is */
	struct advice_taking inputs[PROBE_INPUTS];
	char texts[PROBE_TEXTS][ADVICE_TEXT];
	struct advice_program program;
};

/*
 * A row that advice has told, or all equal ones: this, its columns, its totals. A column is a word
 * (type, flags above 8, length above 16), and a word with the number or the words of the text.
 */
struct probe_group {
	uint64_t hash;
	uint32_t query;
	uint16_t words; /* of all of it */
	uint8_t nr_columns, nr_totals;
	uint32_t key_words; /* of columns */
	uint32_t flags;     /* ADVICE_ROW_… */
	uint64_t times;     /* rows that it stands for */
	uint64_t nr_incomplete;
};

/*
 * A run of advice that is held, since a part of what it reads has not come yet, stands among rows:
 * a group with this flag, the values of its inputs as columns (those of the program, in the order
 * of their numbers), the bag. hash: the time; times: which piece of the query's it is; key_words:
 * of columns; nr_incomplete: bytes of the bag.
 */
#define PROBE_ROW_HELD (1u << 31)
#define PROBE_HELD_WORDS \
	(sizeof(struct probe_group) / 8 + ADVICE_INPUTS * (1 + ADVICE_TEXT / 8) + \
	 PROBE_BAG_BYTES / 8)

/* value.text leads nowhere: its bytes stand behind it. */
struct probe_total {
	uint64_t nr;
	struct advice_value value;
	char text[ADVICE_TEXT];
};

/* Ticks as time: ns = at_ns + ((tick - at_tick) * rate >> 32). */
struct probe_clock {
	uint64_t at_tick, at_ns, rate;
};

/* What was put where, and what stood there. */
struct probe_patch {
	uint64_t address;
	uint32_t is_on; /* set before the bytes are written, cleared after they were taken back */
	uint8_t old[8], new[8]; /* JUMP of them */
	/* 1 + where a system call was among what was moved, and where it is in the stub's copy; 0:
	 * there is none. Threads wait in it. */
	uint8_t call_old, call_new;
	uint8_t is_again, reserved; /* again: it was on before, and off for a while */
	uint64_t stub;
	uint64_t origin;    /* the function, or PROBE_ORIGIN_SITE and the place */
	uint64_t semaphore; /* or 0 */
	uint32_t nr;        /* bytes that were moved */
	uint32_t what;
};
#define PROBE_JUMP 5
#define PROBE_ORIGIN_SITE ((uint64_t)1 << 63)

struct probe_area {
	uint64_t start, bytes, used;
};

/* Some code of the process. */
struct probe_stretch {
	uint64_t start, end;
};

/* A thread that is to stand still until more is there: where it calls a function with this name as
 * its second argument it waits, no longer than until. */
enum probe_hold_state {
	PROBE_HOLD_NONE,
	PROBE_HOLD_ARMED, /* nobody has come there yet */
	PROBE_HOLD_WAITS,
	PROBE_HOLD_LET_GO,
	PROBE_HOLD_RAN_OUT, /* it went on by itself */
};

struct probe_hold {
	uint32_t state, reserved;
	uint64_t until; /* TSC; put off as long as somebody is there to let it go */
	uint64_t since; /* TSC: when it began to wait */
	char name[40];
};

struct probe_region {
	uint64_t magic;
	uint32_t version, nr_rings;
	uint64_t alive_until; /* TSC: afterwards our code does nothing */
	uint64_t nr_unseen;   /* calls of threads for which there was no room */
	uint64_t nr_claimed;  /* rings that ever had an owner: no later one has */
	uint64_t epoch;       /* which table rows go into; changed by who reads */
	uint64_t bags;        /* a session's number: bags of another are empty */
	uint64_t clock_nr;    /* whose lowest bit says which clock is right */
	uint64_t bytes;
	uint64_t here;             /* where this is in the process */
	uint64_t code, code_bytes; /* where our code is in it */
	uint64_t leave;            /* what watched functions return to */
	uint64_t own, own_bytes;   /* the memory of its own */
	uint64_t tid_offset;
	uint64_t session; /* the process that is at work here; 0: none */
	uint32_t nr_areas, nr_patches;
	uint64_t nr_gaps; /* times when what hands bags on was patched: before, it was not seen */
	/* written by many: alone in its line of the cache */
	uint64_t nr_units __attribute__((aligned(64))); /* calls of what is counted all the time */
	uint64_t reserved_units[7];
	struct probe_area areas[PROBE_AREAS];
	struct probe_patch patches[PROBE_FUNCTIONS];
	struct probe_taken taken[PROBE_FUNCTIONS];
	struct probe_woven woven[PROBE_FUNCTIONS];
	struct probe_clock clocks[2];
	uint64_t host;             /* a hash that tells hosts apart, in what bags are written by */
	uint64_t nr_advice_unseen; /* runs of threads for which there was no room */
	/* Of a place in a Java machine: how often a thread may run advice in half a second, 0: as
	 * often as it comes there; and how often it did not, therefore. */
	uint64_t run_limit, nr_limited;
	uint64_t there_until; /* TSC: until then who watches is there, paused or not */
	uint64_t handover;    /* where struct handover is in the process; 0: nowhere */
	uint64_t handover_at, handover_bytes; /* … and where it was mapped last */
	struct carry_counts carried;
	struct probe_advice advices[PROBE_ADVICES];
	uint64_t nr_generated; /* calls that came from other code than that of files */
	uint64_t nr_codes;
	struct probe_stretch codes[PROBE_CODES]; /* of files, by their order */
	struct probe_hold hold;
};

/* Rings begin at the next page. */
#define PROBE_RINGS_AT ((sizeof(struct probe_region) + 4095) & ~(uint64_t)4095)
#define PROBE_RING_BYTES ((sizeof(struct probe_ring) + 4095) & ~(uint64_t)4095)

/* Of a call that has not ended. */
struct probe_frame {
	uint64_t slot;  /* where its return address stands */
	uint64_t back;  /* the return address itself */
	uint64_t start; /* TSC */
	uint64_t what;  /* the function in the low 16 bits, enum probe_want above */
	uint64_t kept;  /* the argument that is taken when it ends, or where all are kept */
};

/* Bits above a function's number. */
#define PROBE_WANT_ENTRY (1u << 16)  /* a mark when it begins */
#define PROBE_WANT_EXIT (1u << 17)   /* a mark when it ends */
#define PROBE_WANT_SILENT (1u << 18) /* no call is told */
#define PROBE_WANT_UNWIND (1u << 19) /* not watched: it looks at return addresses */
#define PROBE_WANT_SITE (1u << 21)   /* a place in a function */
#define PROBE_WANT_CATCH (1u << 20)  /* not watched: what it looked at is over */
#define PROBE_WANT_ADVICE (1u << 22) /* runs what region.woven says */
#define PROBE_WANT_CARRY (1u << 23)  /* a call that bags are handed over by */
#define PROBE_WANT_BIRTH (1u << 24)  /* makes a thread: it begins with what its maker carries */
#define PROBE_WANT_DEATH (1u << 25)  /* waits for a thread's end: its bag is joined */
#define PROBE_WANT_UNIT (1u << 26)   /* counted, whether anything is told or not */
#define PROBE_WANT_CALLER (1u << 27) /* told only when code of a file calls it */
#define PROBE_WANT_HOLD (1u << 28)   /* not watched: who comes may have to wait (region.hold) */

struct probe_grave {
	uint64_t slot, back;
};

struct probe_thread {
	uint64_t key; /* the thread pointer; 0: free */
	uint32_t tid, pid;
	struct probe_frame *top, *limit;
	uint64_t busy;           /* the slot that is worked on: a signal may come in between */
	struct probe_ring *ring; /* or none */
	uint64_t head;
	struct probe_frame *base;
	uint64_t unwinder; /* the slot of who looks at return addresses, which are therefore back */
	uint64_t nr_graves;
	uint64_t tick;    /* when it last came to us */
	uint64_t awaited; /* the thread that it begins to wait for the end of */
	uint64_t near_low, near_high, near_until; /* all of the stack between is there */
	uint64_t nr_kept;
};

/* Pages that were found readable, by their lowest bits, and until when that is believed. */
struct probe_pages {
	uint64_t page[PROBE_PAGES], until[PROBE_PAGES];
};

/* The arguments of a call that has not ended. */
struct probe_kept {
	uint64_t v[6];
};

/* What a thread carries. */
struct probe_bag {
	uint64_t session;    /* the region's, when it was last empty */
	uint64_t writer[4];  /* struct bag_writer */
	uint64_t carried[4]; /* how it came here (guest/courier.h); 0 when it was last empty */
	uint64_t tid;        /* whose it is */
	uint64_t nr_begun;   /* requests that began in the thread, by tracepoints */
	uint64_t number;     /* of the thread that it is for now (struct probe_self), or 0 */
	uint64_t reserved[4];
	uint64_t bag[PROBE_BAG_BYTES / 8]; /* struct bag */
};

/* A thread that others carry, one after the other (those that Java calls virtual), while none does:
 * what struct probe_bag has of it. The bytes of the bag stand behind it. */
struct probe_self {
	uint64_t session, writer[4], carried[4], nr_begun;
	uint64_t nr; /* bytes of the bag */
};
#define PROBE_SELF_BYTES (sizeof(struct probe_self) + PROBE_BAG_BYTES)
/* Numbers of such threads: no thread of the kernel has one. */
#define PROBE_NUMBERS_AT ((uint64_t)1 << 32)

#define PROBE_CARRIED_ORIGIN 0 /* a word of carried: the request, where it came by a connection */
#define PROBE_CARRIED_DUE 20   /* a byte of carried: another request is to be taken up first */

/* A thread that is being made: what it is to run, and what it begins with. */
struct probe_birth {
	uint64_t routine, argument, reserved[6];
	struct probe_bag bag;
};

/* The memory of its own: threads, stacks (each behind a frame that is never left), graves. */
struct probe_own {
	struct probe_thread threads[PROBE_THREADS];
	struct probe_frame stacks[PROBE_THREADS][PROBE_DEPTH];
	struct probe_grave graves[PROBE_THREADS][PROBE_GRAVES];
	uint64_t nr_threads; /* places taken: some stay free, where who looks for one stops */
	uint64_t space;      /* a number that processes have which number others alike */
	uint64_t inherited;  /* the ring that was last taken over */
	uint64_t reserved[5];
	struct probe_pages pages[PROBE_THREADS];
	struct probe_kept kept[PROBE_THREADS][PROBE_KEPT];
	struct probe_bag bags[PROBE_THREADS]; /* as the threads */
	struct probe_bag left[PROBE_LEFT];    /* of those that have ended last, by number */
	uint8_t is_birth[PROBE_BIRTHS];       /* taken */
	struct probe_birth births[PROBE_BIRTHS];
	uint64_t share_room[32];
	/* How often the program went on unseen: our code stood still (the region's alive_until at
	 * the last time), or was not there (its nr_gaps). What was carried before is not believed
	 * afterwards. */
	uint64_t nr_lapses, lapsed_at, gaps_seen;
	uint64_t slept; /* nr_lapses after it last stood still */
	uint64_t carry_fds[PROBE_CARRY_FDS][PROBE_CARRY_FD_BYTES / 8];
	uint64_t carry_rooms[PROBE_THREADS][PROBE_CARRY_ROOM_BYTES / 8];
};
#define PROBE_THREADS_MAX (PROBE_THREADS * 3 / 4)
#define PROBE_KEY_GONE 1 /* of a place whose thread has ended */

/*
 * What an agent of a virtual machine in the same process calls, as C functions. None of them waits,
 * and none does anything when nobody watches any more.
 */
enum probe_service {
	PROBE_SERVICE_ADVISE, /* void (uint32_t function, uint32_t moment, const struct probe_met *)
			       */
	PROBE_SERVICE_SEE,    /* const void * (void): what the thread carries, a struct bag, until
				 any of these is called again; NULL: nothing */
	PROBE_SERVICE_CARRY,  /* void (const void *): this, the front of a struct bag that is sound,
				 instead of what it carries; NULL: nothing */
	PROBE_SERVICE_JOIN,   /* void (const void *): this as well */
	PROBE_SERVICE_PLACE,  /* const struct probe_bag * (void): the thread's, for as long as it
				 lives; NULL: it has none */
	PROBE_SERVICE_TELL,   /* void (uint32_t function, uint32_t kind, uint64_t start, uint64_t
				 end): a record, PROBE_KIND_…; of a call that was too deep to be
				 watched start is 0. Of a mark that has a value end is that, and the
				 function is told with PROBE_VALUED. Also when nobody watches any
				 more: the call began while somebody did */
	PROBE_SERVICE_BECOME, /* long (uint64_t number, const struct probe_self *is, struct
				 probe_self *was): the thread is this one from now on, whose number
				 is told, or itself again (0); is: NULL, one that begins; was: room
				 for PROBE_SELF_BYTES, what it was so far. Also when nobody watches.
				 -1: nothing of it is known, and it stays what it is */
	PROBE_SERVICES,
};

/* As enum piece_moment of capture/weave/pieces.h. */
enum probe_moment { PROBE_AT_ENTRY, PROBE_AT_EXIT, PROBE_AT_UNWOUND };

/* What was found where a place was passed. */
struct probe_met {
	uint64_t start; /* TSC, of an exit; 0: not known */
	uint32_t nr, nr_unread;
	const struct advice_value *values; /* by number, as PROBE_FROM_VALUE has it */
};

/* The first bytes of our code. Offsets from its beginning. */
#define PROBE_CODE_MAGIC 0x65646f6370706c63u
struct probe_code {
	uint64_t magic;
	uint64_t enter, leave, site;
	/* filled in before it runs */
	struct probe_region *region;
	struct probe_own *own;
	uint64_t tid_offset;
	uint64_t nr_rings;
	uint64_t services[PROBE_SERVICES];
};

#endif
