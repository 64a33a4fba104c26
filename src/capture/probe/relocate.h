/* The first instructions of a function, moved out of the way of a jump of ours. */
#ifndef CULPRIT_CAPTURE_PROBE_RELOCATE_H
#define CULPRIT_CAPTURE_PROBE_RELOCATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JUMP_BYTES 5

/* Why a function is not watched. */
#define PROBE_WHYS(X) \
	X(WHY_NONE, NULL) \
	X(WHY_SHORT, "too short") \
	X(WHY_BRANCH, "a branch goes into its first bytes") \
	X(WHY_LOOP, "it jumps to its own beginning") \
	X(WHY_CALL, "cannot be moved: a call through a pointer") \
	X(WHY_FAR, "cannot be moved: what it refers to is too far away") \
	X(WHY_LOOPING, "cannot be moved: a short branch that has no long form") \
	X(WHY_UNKNOWN, "cannot be moved: an instruction that is not known") \
	X(WHY_UNMAPPED, "its module is not loaded") \
	X(WHY_OUTSIDE, "not in the code of its module") \
	X(WHY_ROOM, "no room for code of ours within reach") \
	X(WHY_BUSY, "busy: a thread did not leave its first bytes") \
	X(WHY_TWICE, "the same code is watched already") \
	X(WHY_LEAVES, "leaves by another way than it came") \
	X(WHY_OTHERS, "somebody else has changed its first bytes") \
	X(WHY_FIRST, "its first instruction cannot stay where others would set a breakpoint") \
	X(WHY_UNWINDER, \
	  "its exceptions cannot be followed: the unwinder is linked in, without a name") \
	X(WHY_WALKS, "the runtime of its language looks at return addresses itself") \
	X(WHY_FAILED, "could not be written")

enum probe_why {
#define X(name, text) name,
	PROBE_WHYS(X)
#undef X
		NR_WHYS
};

/* Beside a reason: it cannot be watched by a uprobe either, which replaces return addresses, too.
 */
#define WHY_FINAL 0x80

const char *probe_why_text(enum probe_why why);

/* What reads instructions, made when it is needed. Zero is none yet. */
struct relocator {
	size_t handle;
};

void relocator_done(struct relocator *how);

struct relocated {
	size_t skip;     /* bytes in front that stay where they are */
	uint32_t pushed; /* by how much they have moved the stack pointer; they are in code again,
			    to be run anew from where it was */
	size_t nr_old;   /* bytes that were moved */
	uint8_t code[160];
	size_t nr;
	size_t nr_moved;
	uint8_t at_old[16],
		at_new[16]; /* where each instruction was, and is, from the beginnings */
};

/* What is asked of the jump's place: bits of the arguments that are read when it is reached (the
 * first six), and whether it may stand on the first byte. */
#define RELOCATE_ARGUMENTS 0x3fu
#define RELOCATE_FRONT (1u << 31)

/*
 * The jump goes behind the first instruction, as others (uprobes) patch that one: with only a part
 * of our jump behind it, that would be the program's end.
 *
 * bytes: the function and, behind its size, more of what follows it, nr in all. address: where it
 * is. to: where it goes. What is moved ends with a jump back. */
enum probe_why relocate(struct relocator *how, const uint8_t *bytes, size_t size, size_t nr,
			uint64_t address, uint64_t to, uint32_t asked, struct relocated *out);
/* Whether the first instruction, which stays, leaves these arguments alone. */
bool relocate_keeps(struct relocator *how, const uint8_t *bytes, size_t size, uint32_t asked);
/* The same from a place in the function on. */
enum probe_why relocate_at(struct relocator *how, const uint8_t *bytes, size_t size, size_t nr,
			   uint64_t address, size_t place, uint64_t to, struct relocated *out);

#endif
