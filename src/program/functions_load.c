/*
 * All that names or bounds a function is put in one list, by address; what is at one address is one
 * function with several names. Stretches of code without a name are functions, too, unless they are
 * parts: inside a function that is named, entered with a frame set up, a table of jumps, or called
 * by nobody.
 */
#include "program/functions_load.h"

#include <stdlib.h>

#include "base/inflate.h"
#include "base/sort.h"
#include "program/functions_called.h"
#include "program/functions_disasm.h"
#include "program/functions_name.h"
#include "program/functions_symbols.h"
#include "program/functions_told.h"

enum {
	MINIDEBUG_MAX = 256 << 20,
	LOOKED_BACK = 64, /* aliases */
};

struct place {
	uint64_t address, size;
	uint32_t symbol; /* position, or NO_SYMBOL: a stretch of code */
	bool is_part;
};
#define NO_SYMBOL UINT32_MAX

struct loading {
	struct functions *f;
	struct function_image *image;
	uint32_t module;
	struct str path;
	struct function_symbols symbols;
	struct function_namer namer;
	VEC(struct place) places;
	VEC(uint32_t) choosers; /* positions of symbols */
	struct map unnamed;     /* addresses of stretches without a name: 1 if called */
	bool knows_calls;
};

/* xz in a section: an ELF file with nothing but symbols. */
static struct buf minidebug(const struct elf *e)
{
	const struct section *s = elf_section_named(e, STR(".gnu_debugdata"));
	struct inflate *z;
	struct buf b = { 0 };
	ssize_t n = 1;

	if (!s || inflate_of_bytes(&z, s->bytes, NULL) < 0)
		return b;
	while (n > 0 && b.n < MINIDEBUG_MAX) {
		n = inflate_read(z, buf_room(&b, 1 << 16), 1 << 16, NULL);
		if (n > 0)
			b.n += (size_t)n;
	}
	inflate_free(z);
	return b;
}

/* All symbols that there are. Names stay in the bytes of these until the functions are made. */
struct origins {
	struct function_image *debug;
	struct buf minidebug;
	struct elf mini;
	struct arena arena;
};

static bool gather_symbols(struct loading *l, const char *root, struct origins *o)
{
	const struct elf *e = &l->image->elf;
	size_t nr = function_symbols_all(e, FUNCTION_SYMTAB, &l->symbols);

	if (!nr) {
		o->debug = function_image_debug(l->image, root, l->path);
		if (o->debug)
			nr = function_symbols_all(&o->debug->elf, FUNCTION_DEBUG, &l->symbols);
	}
	if (!nr)
		function_symbols_debug(o->debug ? o->debug->elf.bytes : e->bytes, &o->arena,
				       &l->symbols);
	nr = l->symbols.v.nr;
	if (!nr) {
		o->minidebug = minidebug(e);
		if (elf_read(&o->mini, buf_str(&o->minidebug)))
			nr = function_symbols_all(&o->mini, FUNCTION_MINIDEBUG, &l->symbols);
	}
	function_symbols_exported(e, &l->symbols);
	return nr > 0;
}

static void origins_done(struct origins *o)
{
	function_image_free(o->debug);
	elf_done(&o->mini);
	buf_done(&o->minidebug);
	arena_done(&o->arena);
}

static uint64_t place_address(const void *p)
{
	return ((const struct place *)p)->address;
}

static uint64_t range_address(const void *r)
{
	return ((const struct function_range *)r)->address;
}

/* Whether code of this file lies there, and no table of jumps. */
static bool is_code_at(const struct elf *e, uint64_t address)
{
	const struct section *s = function_image_section(e, address);

	if (s)
		return s->flags & SECTION_RUN && !str_starts(s->name, STR(".plt")) &&
		       !str_starts(s->name, STR(".iplt"));
	vec_each (&e->segments, g)
		if (g->type == SEGMENT_LOAD && g->flags & SEGMENT_RUN && address >= g->address &&
		    address - g->address < g->bytes.n)
			return true;
	return false;
}

static void add_places(struct loading *l)
{
	struct function_ranges frames = { 0 };

	function_frames(&l->image->elf, &frames);
	for (uint32_t i = 0; i < l->symbols.v.nr; i++) {
		const struct function_symbol *s = &l->symbols.v.v[i];

		if (is_code_at(&l->image->elf, s->address))
			vec_push(&l->places, (struct place){ s->address, s->size, i, false });
	}
	vec_each (&l->symbols.cold.v, r)
		vec_push(&l->places, (struct place){ r->address, r->size, NO_SYMBOL, true });
	vec_each (&frames.v, r)
		if (is_code_at(&l->image->elf, r->address))
			vec_push(&l->places,
				 (struct place){ r->address, r->size, NO_SYMBOL, r->is_part });
	vec_done(&frames.v);
	if (l->places.nr)
		sort_records(l->places.v, l->places.nr, sizeof(*l->places.v), place_address);
}

/* A stretch without a name is a function if it is called, or its address is taken. Others are
 * entered by jumps, from within a function or as its last act: nobody knows which registers matter
 * there, so that it would not be safe to take them for functions. */
static void find_called(struct loading *l)
{
	vec_each (&l->places, p)
		if (p->symbol == NO_SYMBOL && !p->is_part)
			*map_at(&l->unnamed, p->address) = 0;
	l->knows_calls = functions_called(&l->image->elf, &l->unnamed);
}

static bool is_called(const struct loading *l, uint64_t address)
{
	const uint64_t *v = map_find(&l->unnamed, address);

	return !l->knows_calls || (v && *v);
}

static size_t nr_underscores(struct str s)
{
	size_t i = 0;

	while (i < s.n && s.p[i] == '_')
		i++;
	return i;
}

/* Which of two symbols names the function better. */
static bool is_better(const struct function_symbol *a, const struct function_symbol *b)
{
	size_t na = nr_underscores(a->name), nb = nr_underscores(b->name);
	int order;

	if (na != nb)
		return na < nb;
	if (a->is_local != b->is_local)
		return b->is_local;
	if (a->name.n != b->name.n)
		return a->name.n < b->name.n;
	order = str_cmp(a->name, b->name);
	return order ? order < 0 : a->source < b->source;
}

static void add_alias(struct loading *l, struct str name, uint32_t function)
{
	struct functions *f = l->f;

	/* those of one function follow each other: told once, as far as one looks back */
	for (size_t back = 1; back <= LOOKED_BACK && back <= f->aliases.nr; back++) {
		const struct function_alias *a = &f->aliases.v[f->aliases.nr - back];

		if (a->function != function)
			break;
		if (str_eq(a->name, name))
			return;
	}
	vec_push(&f->aliases, (struct function_alias){ arena_str(&f->arena, name), function, 0 });
}

static void add_names(struct loading *l, struct str symbol, uint32_t function)
{
	struct str plain = function_plain(&l->namer, symbol);

	add_alias(l, function_folded(&l->namer, plain), function);
	add_alias(l, plain, function);
	add_alias(l, symbol, function);
}

/* "postgres+0x1a2b0" */
static struct str name_by_address(struct loading *l, uint64_t address)
{
	struct str file = l->path;

	for (size_t i = file.n; i-- > 0;)
		if (file.p[i] == '/') {
			file = str_skip(file, i + 1);
			break;
		}
	return arena_fmt(&l->f->arena, STR_FMT "+0x%llx", STR_ARG(file),
			 (unsigned long long)address);
}

static void name_function(struct loading *l, struct function_of *fn, uint32_t number,
			  struct str symbol)
{
	struct arena *a = &l->f->arena;
	struct str plain = function_plain(&l->namer, symbol), folded;

	fn->name = arena_str(a, plain);
	folded = function_folded(&l->namer, fn->name);
	fn->folded = str_eq(folded, fn->name) ? fn->name : arena_str(a, folded);
	add_alias(l, fn->folded, number);
	add_alias(l, fn->name, number);
	add_alias(l, symbol, number);
}

/* The places [v, v + nr) are at one address. */
static void add_named(struct loading *l, const struct place *v, size_t nr, const struct place *best)
{
	const struct function_symbol *s = &l->symbols.v.v[best->symbol];
	uint32_t number = (uint32_t)l->f->v.nr;
	struct function_of fn = { .address = v->address, .module = l->module, .source = s->source };
	uint64_t frame = 0;

	name_function(l, &fn, number, s->name);
	for (size_t i = 0; i < nr; i++) {
		const struct function_symbol *other;

		if (v[i].symbol == NO_SYMBOL) {
			frame = v[i].size;
			continue;
		}
		other = &l->symbols.v.v[v[i].symbol];
		if (other->is_chooser)
			continue;
		if (other->size > fn.size)
			fn.size = other->size;
		if (other->source < fn.source)
			fn.source = other->source;
		fn.is_exported |= other->is_exported;
		if (!str_eq(other->name, s->name))
			add_names(l, other->name, number);
	}
	if (!fn.size)
		fn.size = frame;
	vec_push(&l->f->v, fn);
}

static void add_unnamed(struct loading *l, const struct place *p)
{
	uint32_t number = (uint32_t)l->f->v.nr;
	struct function_of fn = { .address = p->address,
				  .size = p->size,
				  .module = l->module,
				  .source = FUNCTION_FRAME };

	fn.name = fn.folded = name_by_address(l, p->address);
	add_alias(l, fn.name, number);
	vec_push(&l->f->v, fn);
}

/* A stretch without a name: a function, or a part of one. until: where the last function ends. */
static void add_stretch(struct loading *l, const struct place *p, uint64_t until)
{
	bool is_part = p->is_part || !is_called(l, p->address);
	struct function_range r = { p->address, p->size, true };

	if (p->address < until)
		return;
	if (is_part)
		vec_push(&l->image->parts.v, r);
	else
		add_unnamed(l, p);
}

/* The places of one address; where the function ends. */
static void add_function(struct loading *l, const struct place *v, size_t nr, uint64_t until)
{
	const struct place *best = NULL;
	bool is_chooser = false;

	for (size_t i = 0; i < nr; i++) {
		const struct function_symbol *s;

		if (v[i].symbol == NO_SYMBOL)
			continue;
		s = &l->symbols.v.v[v[i].symbol];
		if (s->is_chooser)
			vec_push(&l->choosers, v[i].symbol);
		else if (!best || is_better(s, &l->symbols.v.v[best->symbol]))
			best = &v[i];
		is_chooser |= s->is_chooser;
	}
	if (best)
		add_named(l, v, nr, best);
	else if (!is_chooser)
		add_stretch(l, v, until);
}

static void add_functions(struct loading *l)
{
	struct functions *f = l->f;
	uint64_t until = 0;

	for (size_t i = 0, next; i < l->places.nr; i = next) {
		size_t before = f->v.nr;

		next = i + 1;
		while (next < l->places.nr && l->places.v[next].address == l->places.v[i].address)
			next++;
		add_function(l, &l->places.v[i], next - i, until);
		if (f->v.nr > before && f->v.v[before].address + f->v.v[before].size > until)
			until = f->v.v[before].address + f->v.v[before].size;
	}
	if (l->image->parts.v.nr)
		sort_records(l->image->parts.v.v, l->image->parts.v.nr,
			     sizeof(*l->image->parts.v.v), range_address);
}

/* Functions written by hand may not tell their size: up to the next, or the end of the section. */
static void bound_functions(struct loading *l, uint32_t first)
{
	struct functions *f = l->f;

	for (size_t i = first; i < f->v.nr; i++) {
		struct function_of *fn = &f->v.v[i];
		const struct section *s = function_image_section(&l->image->elf, fn->address);
		uint64_t here = fn->address - (s ? s->address : fn->address);
		uint64_t room =
			s ? s->size - here : elf_at(&l->image->elf, fn->address, UINT64_MAX).n;

		if (!fn->size)
			fn->size = i + 1 < f->v.nr ? f->v.v[i + 1].address - fn->address : room;
		if (fn->size > room)
			fn->size = room;
	}
}

/* What a chooser may choose has its name. */
static void name_chosen(struct loading *l)
{
	uint32_t chosen[32];

	vec_each (&l->choosers, c) {
		const struct function_symbol *s = &l->symbols.v.v[*c];
		size_t nr = functions_addressed(l->f, l->module, s->address, s->size, chosen, 32);

		for (size_t i = 0; i < nr; i++) {
			struct function_of *fn = &l->f->v.v[chosen[i]];

			if (fn->source == FUNCTION_FRAME) {
				name_function(l, fn, chosen[i], s->name);
				fn->source = s->source;
			}
			fn->is_exported |= s->is_exported;
			add_names(l, s->name, chosen[i]);
		}
	}
}

/* "name?" for what is likely; the address is a name as well. */
static void name_told(struct loading *l)
{
	struct functions_told told;

	functions_told(l->f, l->module, &told);
	vec_each (&told.v, t) {
		struct function_of *fn = &l->f->v.v[t->function];

		fn->name = fn->folded = arena_fmt(&l->f->arena, STR_FMT "?", STR_ARG(t->name));
		fn->source = FUNCTION_TOLD;
		add_alias(l, fn->name, t->function);
		add_alias(l, t->name, t->function);
		l->f->nr_told++;
	}
	functions_told_done(&told);
}

void functions_load(struct functions *f, struct function_image *image, struct str path,
		    const char *root, bool is_main)
{
	struct loading l = { .f = f, .image = image, .module = (uint32_t)f->modules.nr };
	struct origins from = { 0 };
	struct module_of m = { .path = arena_str(&f->arena, path),
			       .build = str_hash(function_image_build(&image->elf)),
			       .is_main = is_main,
			       .is_go = elf_section_named(&image->elf, STR(".gopclntab")) ||
					elf_section_named(&image->elf, STR(".go.buildinfo")),
			       .machine = image->elf.machine,
			       .first = (uint32_t)f->v.nr,
			       .image = image };

	l.path = m.path;
	m.is_stripped = !gather_symbols(&l, root, &from);
	add_places(&l);
	find_called(&l);
	add_functions(&l);
	bound_functions(&l, m.first);
	m.nr = (uint32_t)f->v.nr - m.first;
	vec_push(&f->modules, m);
	name_chosen(&l);
	name_told(&l);
	function_symbols_done(&l.symbols);
	function_namer_done(&l.namer);
	vec_done(&l.places);
	vec_done(&l.choosers);
	map_done(&l.unnamed);
	origins_done(&from);
}

void functions_index(struct functions *f)
{
	map_clear(&f->by_name);
	map_reserve(&f->by_name, f->aliases.nr);
	for (size_t i = f->aliases.nr; i-- > 0;) {
		uint64_t *first = map_at(&f->by_name, str_hash(f->aliases.v[i].name));

		f->aliases.v[i].next = (uint32_t)*first;
		*first = i + 1;
	}
}
