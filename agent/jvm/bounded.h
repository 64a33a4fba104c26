/* A text of at most ADVICE_TEXT bytes, in UTF-8: whole characters that do not fit are left out. */
#ifndef CULPRIT_JVM_BOUNDED_H
#define CULPRIT_JVM_BOUNDED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct bounded {
	char *p; /* ADVICE_TEXT bytes of the caller's */
	uint16_t n;
	bool is_full; /* something did not fit: nothing more is taken */
	bool is_cut;  /* something is left out */
};

/* UTF-8 that is valid. */
void bounded_add(struct bounded *b, struct str s);
/* UTF-16; half a pair becomes U+FFFD. */
void bounded_add_utf16(struct bounded *b, const uint16_t *units, size_t nr);
void bounded_add_int(struct bounded *b, int64_t i);
/* As few digits as give the same number again. */
void bounded_add_real(struct bounded *b, double d);

#endif
