/*
 * Programs that log or assert hand over the name of the function that does so. Compilers make an
 * array of each such name, aligned as arrays are, which texts are not: so a text that is an
 * identifier, stands aligned, and is referred to by one function only is likely to be the name of
 * that function, or of one that was inlined in it. How likely is found out from the functions of
 * the same module whose names are known; where that is not often enough, nothing is named so.
 *
 * One pass over the bytes of the code, as in functions_called.c, with a look at each reference.
 */
#include "program/functions_told.h"

#include <ctype.h>

#include "base/sort.h"
#include "program/functions_image.h"

enum {
	NAME_MIN = 4,
	NAME_LONG = 100,
	ALIGNED_SHORT = 8, /* arrays below 16 bytes, and others */
	ALIGNED_LONG = 16,
	KNOWN_MIN = 20, /* functions with a name that the module is judged by */
	RIGHT_PERCENT = 90,
};

#define NOBODY UINT32_MAX
#define SEVERAL (UINT32_MAX - 1)

/* Who refers to a text: a function, or 1 << 31 and the number of a part that was put apart. */
#define IS_PART ((uint32_t)1 << 31)

struct reference {
	uint64_t text;
	uint32_t from;
};

struct telling {
	const struct functions *f;
	const struct module_of *m;
	const struct function_image *image;
	size_t function, part; /* the next that begin behind the place at hand */
	VEC(struct reference) references;
	uint32_t *owners; /* of parts */
};

/* The function or part that holds an address, which only grows from call to call. */
static uint32_t at(struct telling *t, uint64_t address)
{
	const struct function_of *fn = t->f->v.v + t->m->first;
	const struct function_range *parts = t->image->parts.v.v;

	while (t->function < t->m->nr && fn[t->function].address <= address)
		t->function++;
	while (t->part < t->image->parts.v.nr && parts[t->part].address <= address)
		t->part++;
	if (t->function && address - fn[t->function - 1].address < fn[t->function - 1].size)
		return t->m->first + (uint32_t)t->function - 1;
	if (t->part && address - parts[t->part - 1].address < parts[t->part - 1].size)
		return ((uint32_t)t->part - 1) | IS_PART;
	return NOBODY;
}

/* The identifier that stands there as an array would; empty for none. */
static struct str name_at(const struct elf *e, uint64_t address)
{
	struct str s = elf_at(e, address, NAME_LONG);
	size_t n = 0;

	if (!s.n || isdigit((unsigned char)s.p[0]))
		return STR("");
	while (n < s.n && (isalnum((unsigned char)s.p[n]) || s.p[n] == '_'))
		n++;
	if (n < NAME_MIN || n == s.n || s.p[n] ||
	    address % (n + 1 < ALIGNED_LONG ? ALIGNED_SHORT : ALIGNED_LONG))
		return STR("");
	return str_head(s, n);
}

static uint64_t target_of(const uint8_t *number, uint64_t next)
{
	int32_t offset;

	memcpy(&offset, number, sizeof(offset));
	return next + (uint64_t)(int64_t)offset;
}

/* A part belongs to who jumps to it. */
static void own_part(struct telling *t, uint32_t from, uint64_t target)
{
	const struct function_range *parts = t->image->parts.v.v;
	size_t low = 0, high = t->image->parts.v.nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (parts[middle].address <= target)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || target - parts[low - 1].address >= parts[low - 1].size || from & IS_PART)
		return;
	if (t->owners[low - 1] == NOBODY)
		t->owners[low - 1] = from;
	else if (t->owners[low - 1] != from)
		t->owners[low - 1] = SEVERAL;
}

static void read_code(struct telling *t, const struct segment *s)
{
	const struct elf *e = &t->image->elf;
	const uint8_t *p = (const uint8_t *)s->bytes.p;

	t->function = t->part = 0;
	for (size_t i = 0; i + 6 <= s->bytes.n; i++) {
		bool is_address = p[i] == 0x8d && (p[i + 1] & 0xc7) == 5;
		bool is_branch = p[i] == 0x0f && p[i + 1] >> 4 == 8, is_jump = p[i] == 0xe9;
		uint64_t here = s->address + i, target;
		uint32_t from;

		if (!is_address && !is_branch && !is_jump)
			continue;
		target = is_jump ? target_of(p + i + 1, here + 5) : target_of(p + i + 2, here + 6);
		if (is_address && (target % ALIGNED_SHORT || !name_at(e, target).n))
			continue;
		from = at(t, here);
		if (from == NOBODY)
			continue;
		if (is_address)
			vec_push(&t->references, (struct reference){ target, from });
		else
			own_part(t, from, target);
	}
}

static uint64_t reference_text(const void *r)
{
	return ((const struct reference *)r)->text;
}

/* Only functions, each text once: its only function, or SEVERAL. */
static void settle_references(struct telling *t)
{
	size_t nr = 0;

	if (!t->references.nr)
		return;
	sort_records(t->references.v, t->references.nr, sizeof(*t->references.v), reference_text);
	for (size_t i = 0; i < t->references.nr; i++) {
		struct reference r = t->references.v[i];

		if (r.from & IS_PART)
			r.from = t->owners[r.from & ~IS_PART];
		if (r.from == NOBODY)
			continue;
		if (!nr || t->references.v[nr - 1].text != r.text)
			t->references.v[nr++] = r;
		else if (t->references.v[nr - 1].from != r.from)
			t->references.v[nr - 1].from = SEVERAL;
	}
	t->references.nr = nr;
}

/* Texts that only this function refers to; positions + 1, 0: none. */
struct own_texts {
	uint32_t first, last;
};

static struct own_texts *own_texts(const struct telling *t)
{
	struct own_texts *own = mem_zalloc(mem_bytes(t->m->nr ? t->m->nr : 1, sizeof(*own)));

	for (uint32_t i = 0; i < t->references.nr; i++) {
		uint32_t from = t->references.v[i].from;

		if (from == SEVERAL)
			continue;
		from -= t->m->first;
		if (!own[from].first)
			own[from].first = i + 1;
		own[from].last = i + 1;
	}
	return own;
}

/* How often a choice is right, of functions whose names are known; of short texts, which stand
 * aligned by chance more often, and of long ones. */
struct record {
	size_t nr_right[2], nr_known[2];
};

/* Which of its own texts names a function. Others are of functions that were inlined in it and
 * stand in front of it in the source; compilers write the arrays in that order, or the other way
 * round. */
enum choice { CHOICE_ONLY, CHOICE_FIRST, CHOICE_LAST, NR_CHOICES };

static struct str text_of(const struct telling *t, uint32_t position)
{
	return name_at(&t->image->elf, t->references.v[position - 1].text);
}

static bool is_long(struct str name)
{
	return name.n + 1 >= ALIGNED_LONG;
}

static void count(struct record *r, struct str name, struct str text)
{
	r->nr_known[is_long(text)]++;
	r->nr_right[is_long(text)] += str_eq(name, text);
}

static bool is_good(const struct record *r, struct str text)
{
	size_t right = r->nr_right[is_long(text)], known = r->nr_known[is_long(text)];

	return known >= KNOWN_MIN && right * 100 >= known * RIGHT_PERCENT;
}

static void judge(const struct telling *t, const struct own_texts *own, struct record *records)
{
	const struct function_of *fn = t->f->v.v + t->m->first;

	for (uint32_t i = 0; i < t->m->nr; i++) {
		if (!own[i].first || fn[i].source >= FUNCTION_FRAME)
			continue;
		if (own[i].first == own[i].last) {
			count(&records[CHOICE_ONLY], fn[i].name, text_of(t, own[i].first));
		} else {
			count(&records[CHOICE_FIRST], fn[i].name, text_of(t, own[i].first));
			count(&records[CHOICE_LAST], fn[i].name, text_of(t, own[i].last));
		}
	}
}

/* The name that is likely enough; empty for none. */
static struct str name_of(const struct telling *t, const struct own_texts *own,
			  const struct record *records)
{
	struct str first = text_of(t, own->first), last = text_of(t, own->last);

	if (own->first == own->last)
		return is_good(&records[CHOICE_ONLY], first) ? first : STR("");
	if (is_good(&records[CHOICE_FIRST], first))
		return first;
	return is_good(&records[CHOICE_LAST], last) ? last : STR("");
}

static void take_names(const struct telling *t, const struct own_texts *own,
		       struct functions_told *out)
{
	struct record records[NR_CHOICES] = { 0 };

	judge(t, own, records);
	for (uint32_t i = 0; i < t->m->nr; i++) {
		struct function_told told = { .function = t->m->first + i };

		if (!own[i].first || t->f->v.v[told.function].source != FUNCTION_FRAME)
			continue;
		told.name = name_of(t, &own[i], records);
		if (told.name.n)
			vec_push(&out->v, told);
	}
}

void functions_told(const struct functions *f, uint32_t module, struct functions_told *out)
{
	struct telling t = { .f = f, .m = &f->modules.v[module] };
	struct own_texts *own;
	size_t nr_parts;

	*out = (struct functions_told){ 0 };
	t.image = t.m->image;
	nr_parts = t.image->parts.v.nr;
	if (t.image->elf.machine != ELF_X86_64 || !t.m->nr)
		return;
	t.owners = mem_alloc(mem_bytes(nr_parts ? nr_parts : 1, sizeof(*t.owners)));
	memset(t.owners, 0xff, nr_parts * sizeof(*t.owners));
	vec_each (&t.image->elf.segments, s)
		if (s->type == SEGMENT_LOAD && s->flags & SEGMENT_RUN)
			read_code(&t, s);
	settle_references(&t);
	own = own_texts(&t);
	take_names(&t, own, out);
	free(own);
	free(t.owners);
	vec_done(&t.references);
}

void functions_told_done(struct functions_told *t)
{
	vec_done(&t->v);
}
