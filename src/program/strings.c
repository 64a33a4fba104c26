/*
 * What a file is, its first bytes tell; a Python source has none that do, and is known by its name
 * or by the program that its first line calls.
 */
#include "program/strings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/mem.h"
#include "model/loss.h"
#include "program/strings_class.h"
#include "program/strings_elf.h"
#include "program/strings_python.h"
#include "program/strings_text.h"

#define FILE_MAX ((uint64_t)1 << 30)

enum { RUN_MIN = 6 }; /* printable bytes in a file that we do not understand */

/* As strings(1) does. */
static void give_runs(struct str s, const struct strings_sink *to, struct losses *losses)
{
	size_t from = 0;

	losses->count[LOSS_PROGRAMS_UNKNOWN]++;
	for (size_t i = 0; i <= s.n; i++) {
		unsigned char c = i < s.n ? (unsigned char)s.p[i] : 0;

		if ((c >= ' ' && c < 0x7f) || c == '\t')
			continue;
		if (i - from >= RUN_MIN)
			strings_give(to, (struct str){ s.p + from, i - from }, losses);
		from = i + 1;
	}
}

/* "#!/usr/bin/env python3". */
static bool is_script_of_python(struct str s)
{
	struct str line;

	return str_starts(s, STR("#!")) && str_take_line(&s, &line) &&
	       str_find(line, STR("python")) < line.n;
}

void strings_of_bytes(struct str s, struct str name, const struct strings_sink *to,
		      struct losses *losses)
{
	if (str_starts(s, STR("\177ELF")))
		strings_of_elf(s, to, losses);
	else if (str_starts(s, STR("\xca\xfe\xba\xbe")))
		strings_of_class(s, to, losses);
	else if (s.n >= 16 && str_starts(str_skip(s, 2), STR("\r\n")) && strings_is_pyc(s))
		strings_of_pyc(s, to, losses);
	else if (str_ends(name, STR(".py")) || is_script_of_python(s))
		strings_of_python(s, to, losses);
	else
		give_runs(s, to, losses);
}

/* All bytes of the file; a file that shrinks meanwhile ends earlier. */
static int read_whole(int fd, uint64_t size, const char *path, struct str *bytes, struct error *err)
{
	char *p = mem_alloc(size + 1);
	size_t at = 0;

	while (at < size) {
		ssize_t n = read(fd, p + at, size - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int code = errno;

			free(p);
			return error_set(err, code, "cannot read '%s': %s", path, strerror(code));
		}
		if (!n)
			break;
		at += (size_t)n;
	}
	*bytes = (struct str){ p, at };
	return 0;
}

int strings_read(const char *path, const struct strings_sink *to, struct losses *losses,
		 struct error *err)
{
	cleanup(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct str bytes = { 0 };
	struct stat st;
	char head[4];
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, errno, "cannot open '%s': %s", path, strerror(errno));
	if (S_ISDIR(st.st_mode) ||
	    (S_ISREG(st.st_mode) && pread(fd, head, 4, 0) == 4 && !memcmp(head, "PK\3\4", 4)))
		return strings_of_container(path, to, losses, err);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "'%s' is no file", path);
	if ((uint64_t)st.st_size > FILE_MAX) {
		losses->count[LOSS_PROGRAMS_BROKEN]++;
		return 0;
	}
	r = read_whole(fd, (uint64_t)st.st_size, path, &bytes, err);
	if (r < 0)
		return r;
	strings_of_bytes(bytes, str_of(path), to, losses);
	free((void *)bytes.p);
	return 0;
}
