#include "program/functions_slots.h"

#include "program/functions_symbols.h"

enum {
	SECTION_NO_ADDENDS = 9,
	TAG_JUMPS_BYTES = 2,
	TAG_GOT = 3,
	TAG_ADDENDS = 7,
	TAG_ADDENDS_BYTES = 8,
	TAG_JUMPS = 23,
	KIND_WORD = 1, /* of relocations, the same numbers on both x86 */
	KIND_GLOBAL = 6,
	KIND_JUMP = 7,
	KIND_RELATIVE = 8,
	KIND_CHOSEN = 37,
};

static uint64_t number(const struct elf *e, struct str s, unsigned at, unsigned bytes)
{
	uint64_t v = 0;

	elf_number(e, s, at, bytes, &v);
	return v;
}

/* Values in the map: 4 times a symbol or an address, and what it is. */
enum { SLOT_ADDRESS, SLOT_SYMBOL, SLOT_CHOOSER };

static void take_relocation(struct function_image *m, struct str r, bool has_addend)
{
	const struct elf *e = &m->elf;
	unsigned word = elf_word(e);
	uint64_t at = number(e, r, 0, word), info = number(e, r, word, word);
	uint64_t kind = e->is_64 ? info & UINT32_MAX : info & 255;
	uint64_t symbol = e->is_64 ? info >> 32 : info >> 8;
	const struct section *s;

	if (kind == KIND_JUMP || kind == KIND_GLOBAL || (kind == KIND_WORD && symbol)) {
		*map_at(&m->slots, at) = 4 * symbol + SLOT_SYMBOL;
	} else if (has_addend && (kind == KIND_CHOSEN || kind == KIND_RELATIVE)) {
		/* what is written elsewhere than in the table of the linker may change */
		s = kind == KIND_RELATIVE ? function_image_section(e, at) : NULL;
		if (kind == KIND_CHOSEN || (s && str_starts(s->name, STR(".got"))))
			*map_at(&m->slots, at) =
				4 * number(e, r, 2 * word, word) +
				(kind == KIND_CHOSEN ? SLOT_CHOOSER : SLOT_ADDRESS);
	}
}

static void take_table(struct function_image *m, struct str table, bool has_addend)
{
	size_t each = elf_word(&m->elf) * (has_addend ? 3u : 2u);

	for (; table.n >= each; table = str_skip(table, each))
		take_relocation(m, str_head(table, each), has_addend);
}

static void read_slots(struct function_image *m)
{
	const struct elf *e = &m->elf;
	bool has_table = false;

	m->has_slots = true;
	if (e->machine != ELF_X86_64 && e->machine != ELF_X86)
		return;
	vec_each (&e->sections, s)
		if (s->flags & SECTION_ALLOC &&
		    (s->type == SECTION_ADDENDS || s->type == SECTION_NO_ADDENDS)) {
			take_table(m, s->bytes, s->type == SECTION_ADDENDS);
			has_table = true;
		}
	if (has_table)
		return;
	take_table(m, elf_at(e, elf_dynamic(e, TAG_ADDENDS), elf_dynamic(e, TAG_ADDENDS_BYTES)),
		   true);
	take_table(m, elf_at(e, elf_dynamic(e, TAG_JUMPS), elf_dynamic(e, TAG_JUMPS_BYTES)),
		   e->is_64);
}

bool function_slot(struct function_image *m, uint64_t address, struct slot *s)
{
	struct str table, names;
	struct symbol symbol;
	uint64_t *v;

	if (!m->has_slots)
		read_slots(m);
	v = map_find(&m->slots, address);
	if (!v)
		return false;
	*s = (struct slot){ .address = *v / 4, .is_chooser = *v % 4 == SLOT_CHOOSER };
	if (*v % 4 != SLOT_SYMBOL)
		return true;
	if (!symbols_dynamic(&m->elf, &table, &names) ||
	    !symbol_at(&m->elf, table, names, *v / 4, &symbol) || !symbol.name.n)
		return false;
	s->symbol = symbol.name;
	return true;
}

/* Stubs look like this: [endbr] [bnd] jmp *slot, the slot told from here on 64 bits, absolute or
 * from the begin of the table on 32. */
bool function_stub(const struct function_image *m, uint64_t address, uint64_t *slot)
{
	const struct elf *e = &m->elf;
	struct str code = elf_at(e, address, 16);
	uint64_t offset, behind;

	if (!str_take(&code, STR("\xf3\x0f\x1e\xfa")))
		str_take(&code, STR("\xf3\x0f\x1e\xfb"));
	str_take_char(&code, '\xf2');
	if (!str_take(&code, STR("\xff\x25")) && (e->is_64 || !str_take(&code, STR("\xff\xa3"))))
		return false;
	behind = address + (uint64_t)(code.p - elf_at(e, address, 16).p) + 4;
	if (!elf_number(e, code, 0, 4, &offset))
		return false;
	if (e->is_64)
		*slot = behind + (uint64_t)(int32_t)offset;
	else if ((uint8_t)code.p[-1] == 0x25)
		*slot = offset;
	else
		*slot = (elf_dynamic(e, TAG_GOT) + offset) & UINT32_MAX;
	return true;
}
