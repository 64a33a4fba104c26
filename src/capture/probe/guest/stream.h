/*
 * What a descriptor is a connection of, and how many bytes went through it either way: names and
 * positions on which both ends agree without a word between them.
 *
 * TCP: the addresses of both ends; the kernel counts the bytes. Sockets of one host and pipes: the
 * number of the sender's socket, or of the pipe; bytes are counted from the beginning, or from when
 * the sender is first seen, who then says where it is (wire/handover.h).
 */
#ifndef CULPRIT_CAPTURE_PROBE_GUEST_STREAM_H
#define CULPRIT_CAPTURE_PROBE_GUEST_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/probe/guest/handover.h"

enum stream_kind { STREAM_UNKNOWN, STREAM_NONE, STREAM_TCP, STREAM_LOCAL, STREAM_PIPE };
enum stream_role { STREAM_EITHER, STREAM_SERVER, STREAM_CLIENT };
/* FAR: agents hand over what it carries; FOREIGN: nobody does. */
enum stream_reach { STREAM_HERE, STREAM_FAR, STREAM_FOREIGN };

/* Zero is a descriptor of which nothing is known. */
struct stream {
	uint8_t kind, role;
	uint8_t is_fresh;        /* seen from its beginning: not a byte has gone through yet */
	uint8_t has_out, has_in; /* whether the position is known */
	uint8_t reach;           /* where the other end is: enum stream_reach */
	uint8_t reserved[2];
	uint64_t key_out, key_in; /* 0: not known yet */
	uint64_t out, in;
	uint32_t checked_out, checked_in; /* when, in long steps */
};

/* Finds out what it is. False when it is nothing that carries. */
bool stream_look(struct stream *s, int fd, struct handover *h)
	__attribute__((visibility("hidden")));
/* Before a call: where the next byte is. */
void stream_place_out(struct stream *s, int fd, uint64_t now) __attribute__((visibility("hidden")));
/* Before a call, or after it, where what it read ends. now: what a sender has said that may have
 * slept since is not believed. */
void stream_place_in(struct stream *s, int fd, const struct handover *h, uint64_t now)
	__attribute__((visibility("hidden")));
/* Whether the sender counts as it did when the place was found. */
bool stream_counts_on(const struct stream *s, const struct handover *h)
	__attribute__((visibility("hidden")));
/* Whether the descriptor is still that of this connection. */
bool stream_is_same(const struct stream *s, int fd) __attribute__((visibility("hidden")));
/* What was counted against what the kernel, or the sender, says; false, and put right, when they
 * differ. Only one thread may be in such a call then. */
bool stream_check_out(struct stream *s, int fd) __attribute__((visibility("hidden")));
bool stream_check_in(struct stream *s, int fd, const struct handover *h, uint64_t now)
	__attribute__((visibility("hidden")));

#endif
