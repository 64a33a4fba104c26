/*
 * Marks where a piece of work begins and ends in a program, for "culprit variance".
 *
 *	CULPRIT_INTERVAL_BEGIN(order);     the work that this number or pointer names begins
 *	CULPRIT_INTERVAL_CARRY(order);     from here on this thread works for it
 *	CULPRIT_INTERVAL_END(order);       it is done
 *
 * Each is one instruction that does nothing (a nop) and a note in the file that is not loaded,
 *until somebody watches. Nothing is linked. For C and C++, with any compiler that takes what GNU as
 *takes; elsewhere, and where CULPRIT_NO_INTERVALS is defined, the marks are nothing at all.
 *
 * The notes are those of static probes (USDT): provider "culprit", names "begin", "carry" and
 *"end", one argument. Other tools see them, too.
 */
#ifndef CULPRIT_INTERVAL_H
#define CULPRIT_INTERVAL_H

#define CULPRIT_INTERVAL_BEGIN(id) CULPRIT_INTERVAL_MARK_("begin", id)
#define CULPRIT_INTERVAL_CARRY(id) CULPRIT_INTERVAL_MARK_("carry", id)
#define CULPRIT_INTERVAL_END(id) CULPRIT_INTERVAL_MARK_("end", id)

#if defined(__ELF__) && defined(__GNUC__) && !defined(CULPRIT_NO_INTERVALS)

/* One nop as long as a call, so that it can be replaced by one in a single write. */
#if defined(__x86_64__) || defined(__i386__)
#define CULPRIT_INTERVAL_NOP_ ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
#else
#define CULPRIT_INTERVAL_NOP_ "nop\n"
#endif

#if __SIZEOF_POINTER__ == 8
#define CULPRIT_INTERVAL_WORD_ ".8byte "
#define CULPRIT_INTERVAL_BYTES_ "8@"
#else
#define CULPRIT_INTERVAL_WORD_ ".4byte "
#define CULPRIT_INTERVAL_BYTES_ "4@"
#endif

/* A note of type 3: address of the nop, of the section below, of no semaphore; then three texts.
 * The section is there so that who moves the program later moves it along. */
#define CULPRIT_INTERVAL_MARK_(name, id) \
	__asm__ __volatile__( \
		"990: " CULPRIT_INTERVAL_NOP_ ".pushsection .note.stapsdt,\"?\",\"note\"\n" \
		".balign 4\n" \
		".4byte 992f-991f, 994f-993f, 3\n" \
		"991: .asciz \"stapsdt\"\n" \
		"992: .balign 4\n" \
		"993: " CULPRIT_INTERVAL_WORD_ "990b\n" CULPRIT_INTERVAL_WORD_ \
		"_.stapsdt.base\n" CULPRIT_INTERVAL_WORD_ "0\n" \
		".asciz \"culprit\"\n" \
		".asciz \"" name "\"\n" \
		".asciz \"" CULPRIT_INTERVAL_BYTES_ "%[value]\"\n" \
		"994: .balign 4\n" \
		".popsection\n" \
		".ifndef _.stapsdt.base\n" \
		".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
		".weak _.stapsdt.base\n" \
		".hidden _.stapsdt.base\n" \
		"_.stapsdt.base: .space 1\n" \
		".size _.stapsdt.base, 1\n" \
		".popsection\n" \
		".endif\n" \
		: \
		: [value] "nr"((__UINTPTR_TYPE__)(id)))

#else

#define CULPRIT_INTERVAL_MARK_(name, id) ((void)(id))

#endif

#endif
