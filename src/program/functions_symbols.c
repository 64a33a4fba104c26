#include "program/functions_symbols.h"

#include "program/functions_name.h"

enum {
	KIND_FUNCTION = 2,
	KIND_CHOOSER = 10, /* IFUNC */
	BINDING_LOCAL = 0,
	SECTION_UNDEFINED = 0,
	SECTION_ABSOLUTE = 0xfff1,
	TAG_NAMES = 5,
	TAG_SYMBOLS = 6,
	TAG_NAMES_BYTES = 10,
	NAME_MAX_BYTES = 4096,
};

void function_symbols_done(struct function_symbols *s)
{
	vec_done(&s->v);
	vec_done(&s->cold.v);
}

static uint64_t symbol_bytes(const struct elf *e)
{
	return e->is_64 ? 24 : 16;
}

static uint64_t number(const struct elf *e, struct str s, unsigned at, unsigned bytes)
{
	uint64_t v = 0;

	elf_number(e, s, at, bytes, &v);
	return v;
}

bool symbol_at(const struct elf *e, struct str table, struct str names, uint64_t i,
	       struct symbol *s)
{
	uint64_t bytes = symbol_bytes(e);
	uint64_t info, other;

	if (i >= table.n / bytes)
		return false;
	table = str_head(str_skip(table, i * bytes), bytes);
	info = number(e, table, e->is_64 ? 4 : 12, 1);
	other = number(e, table, e->is_64 ? 5 : 13, 1);
	*s = (struct symbol){
		.name = str_head(elf_text(names, number(e, table, 0, 4)), NAME_MAX_BYTES),
		.address = number(e, table, e->is_64 ? 8 : 4, elf_word(e)),
		.size = number(e, table, e->is_64 ? 16 : 8, elf_word(e)),
		.section = (unsigned)number(e, table, e->is_64 ? 6 : 14, 2),
		.kind = info & 15,
		.binding = (unsigned)info >> 4,
		.visibility = other & 3,
	};
	return true;
}

/* Whether the symbol is code that is here. */
static bool is_code(const struct elf *e, const struct symbol *s)
{
	if (s->kind != KIND_FUNCTION && s->kind != KIND_CHOOSER)
		return false;
	if (!s->address || !function_is_name(s->name) || s->section == SECTION_UNDEFINED ||
	    s->section == SECTION_ABSOLUTE)
		return false;
	return s->section >= e->sections.nr || e->sections.v[s->section].flags & SECTION_RUN;
}

static void take_symbol(const struct elf *e, const struct symbol *s, enum function_source source,
			struct function_symbols *to)
{
	struct function_range r = { s->address, s->size, true };
	struct function_symbol f = {
		.address = s->address,
		.size = s->size,
		.name = s->name,
		.source = source,
		.is_local = s->binding == BINDING_LOCAL,
		.is_exported = source == FUNCTION_DYNSYM && s->binding != BINDING_LOCAL &&
			       (!s->visibility || s->visibility == 3),
		.is_chooser = s->kind == KIND_CHOOSER,
	};

	if (!is_code(e, s))
		return;
	if (function_is_cold(s->name))
		vec_push(&to->cold.v, r);
	else
		vec_push(&to->v, f);
}

static void take_table(const struct elf *e, struct str table, struct str names,
		       enum function_source source, struct function_symbols *to)
{
	struct symbol s;

	for (uint64_t i = 0; symbol_at(e, table, names, i, &s); i++)
		take_symbol(e, &s, source, to);
}

static struct str names_of(const struct elf *e, const struct section *s)
{
	return s->link < e->sections.nr ? e->sections.v[s->link].bytes : STR("");
}

size_t function_symbols_all(const struct elf *e, enum function_source source,
			    struct function_symbols *to)
{
	size_t before = to->v.nr;

	vec_each (&e->sections, s)
		if (s->type == SECTION_SYMBOLS) {
			take_table(e, s->bytes, names_of(e, s), source, to);
			break;
		}
	return to->v.nr - before;
}

bool symbols_dynamic(const struct elf *e, struct str *table, struct str *names)
{
	uint64_t symbols, texts;

	vec_each (&e->sections, s)
		if (s->type == SECTION_DYNAMIC_SYMBOLS && s->bytes.n) {
			*table = s->bytes;
			*names = names_of(e, s);
			return true;
		}
	/* Nothing says how many there are, but linkers put the names behind them. */
	symbols = elf_dynamic(e, TAG_SYMBOLS);
	texts = elf_dynamic(e, TAG_NAMES);
	if (!symbols || texts <= symbols)
		return false;
	*table = elf_at(e, symbols, texts - symbols);
	*names = elf_at(e, texts, elf_dynamic(e, TAG_NAMES_BYTES));
	return table->n > 0;
}

void function_symbols_exported(const struct elf *e, struct function_symbols *to)
{
	struct str table, names;

	if (symbols_dynamic(e, &table, &names))
		take_table(e, table, names, FUNCTION_DYNSYM, to);
}
