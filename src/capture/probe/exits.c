#include "capture/probe/exits.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct known {
	const char *name;
	enum exit_kind kind;
};

/* In the order of their bytes: programs have tens of thousands of symbols. */
static const struct known known[] = {
	{ "_Unwind_Backtrace", EXIT_UNWINDS },
	{ "_Unwind_ForcedUnwind", EXIT_UNWINDS },
	{ "_Unwind_RaiseException", EXIT_UNWINDS },
	{ "_Unwind_Resume", EXIT_UNWINDS },
	{ "_Unwind_Resume_or_Rethrow", EXIT_UNWINDS },
	{ "_Unwind_SjLj_RaiseException", EXIT_UNWINDS },
	{ "_Ux86_64_getcontext", EXIT_UNWINDS },
	{ "__clone", EXIT_LEAVES },
	{ "__clone2", EXIT_LEAVES },
	{ "__clone3", EXIT_LEAVES },
	{ "__cxa_begin_catch", EXIT_CATCHES },
	{ "__fentry__", EXIT_LEAVES },
	{ "__restore_rt", EXIT_LEAVES },
	{ "__setjmp", EXIT_LEAVES },
	{ "__sigsetjmp", EXIT_LEAVES },
	{ "__start_context", EXIT_LEAVES },
	{ "__vfork", EXIT_LEAVES },
	{ "_mcount", EXIT_LEAVES },
	{ "_setjmp", EXIT_LEAVES },
	{ "_start", EXIT_LEAVES },
	{ "backtrace", EXIT_UNWINDS },
	{ "clone", EXIT_LEAVES },
	{ "clone3", EXIT_LEAVES },
	{ "dlsym", EXIT_LEAVES },
	{ "dlvsym", EXIT_LEAVES },
	{ "getcontext", EXIT_LEAVES },
	{ "mcount", EXIT_LEAVES },
	{ "pthread_exit", EXIT_UNWINDS },
	{ "savectx", EXIT_LEAVES },
	{ "setcontext", EXIT_LEAVES },
	{ "setjmp", EXIT_LEAVES },
	{ "sigsetjmp", EXIT_LEAVES },
	{ "swapcontext", EXIT_LEAVES },
	{ "unw_getcontext", EXIT_UNWINDS },
	{ "vfork", EXIT_LEAVES },
};

/* What such runtimes keep for each return address: sections, or symbols of data. */
static bool is_walker(const char *name)
{
	static const char *const tables[] = { ".gopclntab", ".data.rel.ro.gopclntab",
					      "caml_frametable" };

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (strcmp(name, tables[i]) == 0)
			return true;
	return false;
}

static int compare_names(const void *name, const void *k)
{
	return strcmp(name, ((const struct known *)k)->name);
}

static void symbol_read(struct exits *e, const char *name, const GElf_Sym *s)
{
	const struct known *k;

	if (!name || !s->st_value || s->st_shndx == SHN_UNDEF)
		return;
	k = bsearch(name, known, sizeof(known) / sizeof(*known), sizeof(*known), compare_names);
	if (!k)
		return;
	vec_push(&e->v, (struct exit_function){ s->st_value, s->st_size, k->kind });
	e->has_unwinder |= strcmp(name, "_Unwind_RaiseException") == 0;
}

static void symbols_read(struct exits *e, Elf *elf, Elf_Scn *scn, const GElf_Shdr *head)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t nr = d && head->sh_entsize ? d->d_size / head->sh_entsize : 0;

	for (size_t i = 0; i < nr && i <= INT32_MAX; i++) {
		const char *name;
		GElf_Sym s;

		if (!gelf_getsym(d, (int)i, &s))
			continue;
		name = elf_strptr(elf, head->sh_link, s.st_name);
		if (GELF_ST_TYPE(s.st_info) == STT_FUNC)
			symbol_read(e, name, &s);
		else
			e->has_walker |= name && s.st_shndx != SHN_UNDEF && is_walker(name);
	}
}

void exits_read(struct exits *e, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf_Scn *scn = NULL;
	GElf_Shdr head;
	const char *name;
	size_t names;
	Elf *elf;

	*e = (struct exits){ 0 };
	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_getshdrstrndx(elf, &names) == 0)
		while ((scn = elf_nextscn(elf, scn))) {
			if (!gelf_getshdr(scn, &head))
				continue;
			name = elf_strptr(elf, names, head.sh_name);
			e->has_walker |= name && is_walker(name);
			e->has_handlers |= name && strcmp(name, ".gcc_except_table") == 0;
			if (head.sh_type == SHT_SYMTAB || head.sh_type == SHT_DYNSYM)
				symbols_read(e, elf, scn, &head);
		}
	elf_end(elf);
	close(fd);
}

void exits_done(struct exits *e)
{
	vec_done(&e->v);
}
