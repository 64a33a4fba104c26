/*
 * Values as they lie in a bag: a head of type, length, flags and the number of words that follow,
 * then the words. What is read may be a stranger's.
 */
#ifndef CULPRIT_LIB_ADVICE_CELL_H
#define CULPRIT_LIB_ADVICE_CELL_H

#include "lib/advice/value.h"

#define CELL_TEXT_WORDS (ADVICE_TEXT / 8)

static inline size_t cell_words(const struct advice_value *v)
{
	return v->type == ADVICE_NULL      ? 1
	       : v->type == ADVICE_TEXTUAL ? 1 + (v->length + 7u) / 8
					   : 2;
}

/* room: words behind the head. */
static inline void cell_write(uint64_t *to, const struct advice_value *v, size_t room)
{
	to[0] = v->type | room << 24;
	if (v->type != ADVICE_TEXTUAL) {
		if (room)
			to[1] = v->type == ADVICE_NULL ? 0 : v->real;
		return;
	}
	to[0] |= (uint64_t)v->length << 8 | (uint64_t)v->flags << 16;
	for (size_t at = 0; at < v->length; at += 8) {
		uint64_t word = 0;

		if (v->length - at >= 8)
			__builtin_memcpy(&word, v->text + at, 8);
		else
			for (size_t i = v->length; i-- > at;)
				word = word << 8 | (unsigned char)v->text[i];
		to[1 + at / 8] = word;
	}
}

/* NULL where it makes no sense; otherwise what is behind it. */
static inline const uint64_t *cell_read(const uint64_t *at, const uint64_t *end,
					struct advice_value *v)
{
	size_t words;

	if (at >= end)
		return NULL;
	v->type = (uint8_t)*at;
	v->length = (uint8_t)(*at >> 8);
	v->flags = (uint8_t)(*at >> 16);
	words = (uint8_t)(*at >> 24);
	at++;
	if (v->type > ADVICE_TEXTUAL || words > (size_t)(end - at))
		return NULL;
	if (v->type == ADVICE_TEXTUAL) {
		if (v->length > ADVICE_TEXT || v->length > 8 * words)
			return NULL;
		v->text = (const char *)at;
	} else if (v->type != ADVICE_NULL) {
		if (!words)
			return NULL;
		v->real = *at;
	}
	return at + words;
}

static inline size_t half_room(uint8_t function)
{
	return function == ADVICE_COUNT                           ? 0
	       : function == ADVICE_MIN || function == ADVICE_MAX ? CELL_TEXT_WORDS
								  : 1;
}

static inline size_t half_words(uint8_t function)
{
	return function == ADVICE_COUNT ? 1 : 2 + half_room(function);
}

static inline void half_write(uint64_t *to, uint8_t function, const struct advice_total *t)
{
	to[0] = t->nr;
	if (function != ADVICE_COUNT)
		cell_write(to + 1, &t->value, half_room(function));
}

static inline const uint64_t *half_read(const uint64_t *at, const uint64_t *end, uint8_t function,
					struct advice_total *t)
{
	if (at >= end)
		return NULL;
	t->nr = *at++;
	t->value.type = ADVICE_NULL;
	if (function == ADVICE_COUNT)
		return at;
	at = cell_read(at, end, &t->value);
	/* an aggregate that has seen nothing has no value, and one that has seen something has */
	return at && !t->nr == (t->value.type == ADVICE_NULL) ? at : NULL;
}

#endif
