#include "capture/probe/exported.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static bool section_find(Elf *elf, Elf_Scn *scn, const GElf_Shdr *head, const char *name,
			 GElf_Sym *found)
{
	Elf_Data *d = elf_getdata(scn, NULL);
	size_t nr = d && head->sh_entsize ? d->d_size / head->sh_entsize : 0;

	for (size_t i = 0; i < nr && i <= INT32_MAX; i++) {
		const char *is;

		if (!gelf_getsym(d, (int)i, found) || found->st_shndx == SHN_UNDEF ||
		    GELF_ST_TYPE(found->st_info) != STT_FUNC)
			continue;
		is = elf_strptr(elf, head->sh_link, found->st_name);
		if (is && strcmp(is, name) == 0)
			return true;
	}
	return false;
}

bool exported_find(const char *path, const char *name, uint64_t *address, uint64_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf_Scn *scn = NULL;
	bool is_found = false;
	GElf_Shdr head;
	GElf_Sym s;
	Elf *elf;

	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	while (elf && !is_found && (scn = elf_nextscn(elf, scn)))
		is_found = gelf_getshdr(scn, &head) && head.sh_type == SHT_DYNSYM &&
			   section_find(elf, scn, &head, name, &s);
	if (is_found) {
		*address = s.st_value;
		*size = s.st_size;
	}
	elf_end(elf);
	close(fd);
	return is_found;
}
