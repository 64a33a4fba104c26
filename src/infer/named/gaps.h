/* Learns how long a piece of work may be silent before its identifier means another piece of work.
 */
#ifndef CULPRIT_INFER_NAMED_GAPS_H
#define CULPRIT_INFER_NAMED_GAPS_H

#include <stdint.h>

#include "base/str.h"

struct gaps;

struct gaps *gaps_new(void);
void gaps_free(struct gaps *g);
/* A silence between two lines with the same identifier; the word is what such identifiers begin
 * with. */
void gaps_add(struct gaps *g, struct str word, int64_t ns);
/*
 * The longest silence within one piece of work, at most idle_ns; *apart tells from 0 to 1 how
 * clearly the silences within and between fall apart.
 */
int64_t gaps_limit(const struct gaps *g, struct str word, int64_t idle_ns, double *apart);
/* "blk" of blk_1073741825_1001 */
struct str gaps_word(struct str key);

#endif
