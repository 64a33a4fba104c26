/* DWARF, read by libdw: asked only where a file has that and no table of symbols. */
#include "program/functions_symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <libelf.h>

#include "program/functions_name.h"

enum { FUNCTIONS_MAX = 1 << 22 };

struct debugging {
	struct arena *arena;
	struct function_symbols *to;
};

/* The mangled name, which is on the declaration of a method. */
static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute a;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &a) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &a))
		return dwarf_formstring(&a);
	return NULL;
}

static int take_function(Dwarf_Die *die, void *to)
{
	struct debugging *d = to;
	const char *name = linkage_name(die);
	Dwarf_Addr low = 0, high = 0;
	struct function_symbol s = { .source = FUNCTION_DEBUG };

	if (!name)
		name = dwarf_diename(die);
	if (dwarf_entrypc(die, &low) || !low || !name || !function_is_name(str_of(name)))
		return DWARF_CB_OK;
	/* of several stretches the first is the function, others were put apart */
	if (dwarf_highpc(die, &high)) {
		Dwarf_Addr base, from, until;

		for (ptrdiff_t at = 0; (at = dwarf_ranges(die, at, &base, &from, &until)) > 0;)
			if (from == low)
				high = until;
	}
	s.address = low;
	s.size = high > low ? high - low : 0;
	s.name = arena_str(d->arena, str_of(name));
	vec_push(&d->to->v, s);
	return d->to->v.nr < FUNCTIONS_MAX ? DWARF_CB_OK : DWARF_CB_ABORT;
}

void function_symbols_debug(struct str file, struct arena *arena, struct function_symbols *to)
{
	struct debugging d = { arena, to };
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	Dwarf *dwarf;
	Elf *e;

	elf_version(EV_CURRENT);
	e = elf_memory((char *)file.p, file.n);
	dwarf = e ? dwarf_begin_elf(e, DWARF_C_READ, NULL) : NULL;
	while (dwarf && !dwarf_get_units(dwarf, unit, &unit, NULL, NULL, &die, NULL))
		dwarf_getfuncs(&die, take_function, &d, 0);
	if (dwarf)
		dwarf_end(dwarf);
	if (e)
		elf_end(e);
}
