#include "agent/jvm/answer.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_MAX_BYTES 2048
#define FILE_MAX_BYTES (4 << 20) /* classes may be loaded for ever */
#define PREFIX "/tmp/.culprit-"

static char file[ANSWER_PATH];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void answer_to(struct str path)
{
	pthread_mutex_lock(&lock);
	snprintf(file, sizeof(file), "%.*s", (int)path.n, path.n ? path.p : "");
	pthread_mutex_unlock(&lock);
}

void answer_path(char path[ANSWER_PATH])
{
	pthread_mutex_lock(&lock);
	memcpy(path, file, sizeof(file));
	pthread_mutex_unlock(&lock);
}

void answer_remove(const char *path)
{
	pthread_mutex_lock(&lock);
	if (strncmp(path, PREFIX, strlen(PREFIX)) == 0 && !strstr(path, ".."))
		unlink(path);
	if (strcmp(path, file) == 0)
		file[0] = 0;
	pthread_mutex_unlock(&lock);
}

static bool is_full(int fd)
{
	struct stat s;

	return fstat(fd, &s) < 0 || s.st_size > FILE_MAX_BYTES;
}

void answer_say(const char *fmt, ...)
{
	char line[LINE_MAX_BYTES];
	va_list ap;
	int n, fd;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	for (int i = 0; i < n; i++)
		if (line[i] == '\n')
			line[i] = ' ';
	line[n++] = '\n';
	pthread_mutex_lock(&lock);
	/* it is theirs to make: when they are gone there is none */
	fd = file[0] ? open(file, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC) : -1;
	if (fd >= 0) {
		if (is_full(fd) || write(fd, line, (size_t)n) != n)
			file[0] = 0;
		close(fd);
	}
	pthread_mutex_unlock(&lock);
}
