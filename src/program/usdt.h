/* Static probes that a program was built with (USDT, as sys/sdt.h writes them): a nop each, a name,
 * and where its arguments are when it is reached. */
#ifndef CULPRIT_PROGRAM_USDT_H
#define CULPRIT_PROGRAM_USDT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "base/vec.h"

struct error;
struct functions;

enum usdt_where {
	USDT_UNKNOWN, /* written in a way that is not understood */
	USDT_CONSTANT,
	USDT_REGISTER,
	USDT_MEMORY, /* offset + base + index * scale, base and index being registers */
};

#define USDT_NO_REGISTER 255
#define USDT_RIP 16

struct usdt_argument {
	enum usdt_where where;
	uint8_t bytes; /* 1, 2, 4, 8 */
	bool is_signed;
	bool is_high;        /* the second byte of the register: ah */
	uint8_t base, index; /* as DWARF numbers those of x86-64: 0 rax, 1 rdx, 2 rcx, 3 rbx,
				4 rsi, 5 rdi, 6 rbp, 7 rsp, 8 to 15; or USDT_NO_REGISTER */
	uint8_t scale;       /* 1, 2, 4, 8 */
	int64_t offset;      /* or the constant */
};

#define USDT_ARGUMENTS_MAX 12

struct usdt {
	struct str provider, name;
	uint64_t address;   /* of the nop, as functions have it */
	uint64_t semaphore; /* a counter of 16 bits to be raised while somebody watches; 0: none */
	uint32_t module;
	uint8_t nr_arguments;
	struct usdt_argument arguments[USDT_ARGUMENTS_MAX];
};

/* Zero is empty. */
struct usdts {
	struct arena arena;
	VEC(struct usdt) v; /* by module, then as the file has them; one name may have several */
};

/* Of all modules of the functions given. */
void usdts_read(struct usdts *u, const struct functions *f);
void usdts_done(struct usdts *u);
/* Positions of all probes of that name, at most max; how many. An empty provider is any. */
size_t usdts_find(const struct usdts *u, struct str provider, struct str name, uint32_t *out,
		  size_t max);
/* What there is instead, as a sentence. */
int usdts_missing(const struct usdts *u, struct str provider, struct str name, struct error *err);
/* "-4@16(%rbp)" */
struct usdt_argument usdt_argument(struct str text);

#endif
