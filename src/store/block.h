/* A few thousand events as columns: what a log of millions of lines costs is decided here. */
#ifndef CULPRIT_STORE_BLOCK_H
#define CULPRIT_STORE_BLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "model/event.h"

struct event_syms;
struct syms;

#define BLOCK_EVENTS 4096
#define BLOCK_STRING_BYTES ((size_t)4 << 20) /* a block that holds more is closed early */

struct block_writer;

struct block_writer *block_new(void);
void block_free(struct block_writer *w);
/* Adds one event and tells whether the block is full now. */
bool block_add(struct block_writer *w, const struct event_syms *syms, const struct event *ev);
uint32_t block_nr(const struct block_writer *w);
/* Appends the coded block to raw and begins the next. */
void block_close(struct block_writer *w, struct buf *raw);

/* How many events the block holds, or 0 when it is damaged. */
uint32_t block_count(struct str raw);
/* Fills events (block_count of them); their strings stand in raw and in the table. */
bool block_decode(struct str raw, const struct syms *t, struct event *events);

#endif
