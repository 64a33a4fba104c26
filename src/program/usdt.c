/*
 * Each probe is a note of type 3, named stapsdt: the address of the nop, the address that
 * .stapsdt.base had when that was written, the semaphore, and three texts: provider, name and
 * arguments. Where a linker or prelink moved the program afterwards, the section .stapsdt.base
 * moved along, and tells by how much.
 */
#include "program/usdt.h"

#include <errno.h>

#include "base/error.h"
#include "program/functions.h"
#include "program/functions_image.h"

enum { NOTE_PROBE = 3, PROBES_MAX = 1 << 20 };

void usdts_done(struct usdts *u)
{
	vec_done(&u->v);
	arena_done(&u->arena);
}

struct register_name {
	const char *name;
	uint8_t number, bytes;
	bool is_high;
};

static const struct register_name registers[] = {
	{ "rax", 0, 8 },        { "eax", 0, 4 },   { "ax", 0, 2 },    { "al", 0, 1 },
	{ "rdx", 1, 8 },        { "edx", 1, 4 },   { "dx", 1, 2 },    { "dl", 1, 1 },
	{ "rcx", 2, 8 },        { "ecx", 2, 4 },   { "cx", 2, 2 },    { "cl", 2, 1 },
	{ "rbx", 3, 8 },        { "ebx", 3, 4 },   { "bx", 3, 2 },    { "bl", 3, 1 },
	{ "rsi", 4, 8 },        { "esi", 4, 4 },   { "si", 4, 2 },    { "sil", 4, 1 },
	{ "rdi", 5, 8 },        { "edi", 5, 4 },   { "di", 5, 2 },    { "dil", 5, 1 },
	{ "rbp", 6, 8 },        { "ebp", 6, 4 },   { "bp", 6, 2 },    { "bpl", 6, 1 },
	{ "rsp", 7, 8 },        { "esp", 7, 4 },   { "sp", 7, 2 },    { "spl", 7, 1 },
	{ "ah", 0, 1, 1 },      { "dh", 1, 1, 1 }, { "ch", 2, 1, 1 }, { "bh", 3, 1, 1 },
	{ "rip", USDT_RIP, 8 },
};

/* "r12", "r12d", "r12w", "r12b" */
static bool take_numbered(struct str word, uint8_t *number)
{
	uint64_t n;

	if (!str_take_char(&word, 'r') || !str_take_uint(&word, &n) || n < 8 || n > 15)
		return false;
	*number = (uint8_t)n;
	return !word.n || (word.n == 1 && strchr("dwb", word.p[0]) && word.p[0]);
}

/* "%rax" from the front. */
static bool take_register(struct str *s, uint8_t *number, bool *is_high)
{
	struct str rest = *s, word;
	size_t n = 0;

	if (!str_take_char(&rest, '%'))
		return false;
	while (n < rest.n &&
	       ((rest.p[n] >= 'a' && rest.p[n] <= 'z') || (rest.p[n] >= '0' && rest.p[n] <= '9')))
		n++;
	word = str_head(rest, n);
	*s = str_skip(rest, n);
	*is_high = false;
	if (take_numbered(word, number))
		return true;
	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		if (str_eq(word, str_of(registers[i].name))) {
			*number = registers[i].number;
			*is_high = registers[i].is_high;
			return true;
		}
	return false;
}

static bool take_number(struct str *s, int64_t *v)
{
	struct str rest = *s;
	bool is_negative = str_take_char(&rest, '-');
	uint64_t n;

	if (str_take(&rest, STR("0x")) ? !str_take_hex(&rest, &n) : !str_take_uint(&rest, &n))
		return false;
	*v = (int64_t)(is_negative ? -n : n);
	*s = rest;
	return true;
}

/* "16(%rbp,%rax,4)" behind its offset. */
static bool take_place(struct str *s, struct usdt_argument *a)
{
	bool is_high;
	uint64_t scale = 1;

	if (!str_take_char(s, '('))
		return false;
	if (s->n && s->p[0] == '%' && !take_register(s, &a->base, &is_high))
		return false;
	if (str_take_char(s, ',')) {
		if (!take_register(s, &a->index, &is_high))
			return false;
		if (str_take_char(s, ',') && !str_take_uint(s, &scale))
			return false;
	}
	a->scale = (uint8_t)scale;
	return str_take_char(s, ')') && scale && scale <= 8 && !(scale & (scale - 1));
}

struct usdt_argument usdt_argument(struct str s)
{
	struct usdt_argument a = {
		.base = USDT_NO_REGISTER, .index = USDT_NO_REGISTER, .scale = 1, .bytes = 8
	};
	enum usdt_where where = USDT_MEMORY;
	int64_t bytes;

	if (str_find_char(s, '@') < s.n) {
		if (!take_number(&s, &bytes) || !str_take_char(&s, '@'))
			return a;
		a.is_signed = bytes < 0;
		bytes = bytes < 0 ? -bytes : bytes;
		if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
			return a;
		a.bytes = (uint8_t)bytes;
	}
	if (str_take_char(&s, '$')) {
		where = take_number(&s, &a.offset) ? USDT_CONSTANT : USDT_UNKNOWN;
	} else if (s.n && s.p[0] == '%') {
		where = take_register(&s, &a.base, &a.is_high) ? USDT_REGISTER : USDT_UNKNOWN;
	} else {
		take_number(&s, &a.offset);
		if (!take_place(&s, &a))
			where = USDT_UNKNOWN;
	}
	if (!s.n)
		a.where = where;
	return a;
}

static void read_arguments(struct usdt *p, struct str text)
{
	struct str word;

	while (p->nr_arguments < USDT_ARGUMENTS_MAX && str_take_word(&text, &word))
		p->arguments[p->nr_arguments++] = usdt_argument(word);
}

static bool take_address(const struct elf *e, struct str *s, uint64_t *v)
{
	if (!elf_number(e, *s, 0, elf_word(e), v))
		return false;
	*s = str_skip(*s, elf_word(e));
	return true;
}

static void take_probe(struct usdts *u, const struct elf *e, uint32_t module, uint64_t base_now,
		       struct str s)
{
	struct usdt p = { .module = module };
	struct str arguments;
	uint64_t base, moved;

	if (!take_address(e, &s, &p.address) || !take_address(e, &s, &base) ||
	    !take_address(e, &s, &p.semaphore) || !str_take_until(&s, '\0', &p.provider) ||
	    !str_take_until(&s, '\0', &p.name) || !p.name.n)
		return;
	arguments = str_head(s, str_find_char(s, '\0'));
	moved = base_now && base ? base_now - base : 0;
	p.address += moved;
	if (p.semaphore)
		p.semaphore += moved;
	p.provider = arena_str(&u->arena, p.provider);
	p.name = arena_str(&u->arena, p.name);
	read_arguments(&p, arguments);
	vec_push(&u->v, p);
}

static void take_notes(struct usdts *u, const struct elf *e, uint32_t module, struct str notes)
{
	const struct section *base = elf_section_named(e, STR(".stapsdt.base"));
	uint64_t name, bytes, type;

	while (elf_number(e, notes, 0, 4, &name) && elf_number(e, notes, 4, 4, &bytes) &&
	       elf_number(e, notes, 8, 4, &type) && u->v.nr < PROBES_MAX) {
		uint64_t behind_name = 12 + ((name + 3) & ~(uint64_t)3);
		struct str text = str_head(str_skip(notes, behind_name), bytes);

		if (type == NOTE_PROBE && str_starts(str_skip(notes, 12), STR("stapsdt\0")))
			take_probe(u, e, module, base ? base->address : 0, text);
		notes = str_skip(notes, behind_name + ((bytes + 3) & ~(uint64_t)3));
	}
}

void usdts_read(struct usdts *u, const struct functions *f)
{
	for (uint32_t i = 0; i < f->modules.nr; i++) {
		const struct elf *e = &f->modules.v[i].image->elf;

		vec_each (&e->sections, s)
			if (str_eq(s->name, STR(".note.stapsdt")))
				take_notes(u, e, i, s->bytes);
	}
}

size_t usdts_find(const struct usdts *u, struct str provider, struct str name, uint32_t *out,
		  size_t max)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < u->v.nr && nr < max; i++)
		if (str_eq(u->v.v[i].name, name) &&
		    (!provider.n || str_eq(u->v.v[i].provider, provider)))
			out[nr++] = i;
	return nr;
}

/* How much of two names is the same from the front. */
static size_t alike(struct str a, struct str b)
{
	size_t i = 0;

	while (i < a.n && i < b.n && a.p[i] == b.p[i])
		i++;
	return i;
}

int usdts_missing(const struct usdts *u, struct str provider, struct str name, struct error *err)
{
	const struct usdt *best = NULL;

	vec_each (&u->v, p)
		if ((!provider.n || str_eq(p->provider, provider)) &&
		    (!best || alike(p->name, name) > alike(best->name, name)))
			best = p;
	if (best)
		return error_set(err, ENOENT,
				 "no static probe '" STR_FMT ":" STR_FMT "'; did you mean " STR_FMT
				 ":" STR_FMT "?",
				 STR_ARG(best->provider), STR_ARG(name), STR_ARG(best->provider),
				 STR_ARG(best->name));
	if (u->v.nr)
		return error_set(err, ENOENT,
				 "no static probe of '" STR_FMT "'; there are those of " STR_FMT,
				 STR_ARG(provider), STR_ARG(u->v.v[0].provider));
	return error_set(err, ENOENT, "the program has no static probes (USDT)");
}
