/*
 * The listening sockets of each network namespace stand in net/tcp and net/tcp6 of any process in
 * it, by inode; whose they are is told by the links in the fd folders. All of it is read once at
 * the start, and again when something unknown is asked for, but not more often than once in a
 * while: a busy machine has many processes.
 */
#include "capture/sockets_listen.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/time.h"
#include "base/vec.h"
#include "capture/sockets_who.h"

#define AGAIN_NS (2 * NS_S)
#define LISTENERS_MAX 65536
#define FDS_MAX 65536
#define LINE_MAX_BYTES 512
#define STATE_LISTEN 10

struct listener {
	uint64_t inode;
	uint32_t netns, tgid; /* tgid 0: not found */
	uint16_t port;
	char name[16];
};

struct sockets_listen {
	char *root;
	int64_t read_at;          /* time_tick */
	VEC(struct listener) all; /* by inode */
	VEC(uint32_t) netns;      /* those that were read */
};

static void path_of(char path[PATH_MAX], const struct sockets_listen *l, uint32_t tgid,
		    const char *rest)
{
	snprintf(path, PATH_MAX, "%s/%u/%s", l->root, tgid, rest);
}

static FILE *open_file(const struct sockets_listen *l, uint32_t tgid, const char *rest)
{
	char path[PATH_MAX];

	path_of(path, l, tgid, rest);
	return fopen(path, "re");
}

uint32_t sockets_listen_netns(const struct sockets_listen *l, uint32_t tgid)
{
	char path[PATH_MAX];
	struct stat st;

	path_of(path, l, tgid, "ns/net");
	return stat(path, &st) < 0 ? 0 : (uint32_t)st.st_ino;
}

/* "  0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000  0  30847 …" */
static bool parse_line(struct str line, struct listener *out)
{
	struct str word, local;
	uint64_t port, state, inode;

	if (!str_take_word(&line, &word) || !str_take_word(&line, &local) ||
	    !str_take_word(&line, &word) || !str_take_word(&line, &word) ||
	    !str_take_hex(&word, &state) || state != STATE_LISTEN)
		return false;
	local = str_skip(local, str_find_char(local, ':') + 1);
	for (unsigned i = 0; i < 5; i++)
		if (!str_take_word(&line, &word))
			return false;
	if (!str_take_word(&line, &word) || !str_take_uint(&word, &inode) ||
	    !str_take_hex(&local, &port) || !port || port > UINT16_MAX || !inode)
		return false;
	*out = (struct listener){ .inode = inode, .port = (uint16_t)port };
	return true;
}

/* False when there is none: the process has just ended, another may tell. */
static bool read_table(struct sockets_listen *l, uint32_t tgid, const char *table, uint32_t netns)
{
	FILE *f = open_file(l, tgid, table);
	char line[LINE_MAX_BYTES];
	struct listener one;

	while (f && fgets(line, sizeof(line), f) && l->all.nr < LISTENERS_MAX) {
		if (!parse_line(str_of(line), &one))
			continue;
		one.netns = netns;
		vec_push(&l->all, one);
	}
	if (f)
		fclose(f);
	return f != NULL;
}

static void read_netns(struct sockets_listen *l, uint32_t tgid)
{
	uint32_t netns = sockets_listen_netns(l, tgid);

	vec_each (&l->netns, it)
		if (*it == netns)
			return;
	if (!netns || !read_table(l, tgid, "net/tcp", netns))
		return;
	vec_push(&l->netns, netns);
	read_table(l, tgid, "net/tcp6", netns); /* there is none where IPv6 is off */
}

static int cmp_inode(const void *a, const void *b)
{
	const struct listener *x = a, *y = b;

	return (x->inode > y->inode) - (x->inode < y->inode);
}

static struct listener *find_inode(struct sockets_listen *l, uint64_t inode)
{
	const struct listener key = { .inode = inode };

	return l->all.nr ? bsearch(&key, l->all.v, l->all.nr, sizeof(key), cmp_inode) : NULL;
}

/* "socket:[30847]" */
static bool inode_of(const char *path, uint64_t *inode)
{
	char text[64];
	ssize_t n = readlink(path, text, sizeof(text));
	struct str s = { text, n < 0 ? 0 : (size_t)n };

	return str_take(&s, STR("socket:[")) && str_take_uint(&s, inode);
}

static void read_name(const struct sockets_listen *l, uint32_t tgid, char name[16])
{
	FILE *f = open_file(l, tgid, "comm");
	char line[64] = "";

	if (f && fgets(line, sizeof(line), f))
		line[strcspn(line, "\n")] = '\0';
	if (f)
		fclose(f);
	memset(name, 0, 16);
	memcpy(name, line, strnlen(line, 15));
}

/* Notes what the process listens at; answers with its lowest port, or 0. */
static uint16_t read_process(struct sockets_listen *l, uint32_t tgid)
{
	char path[PATH_MAX], fd_path[PATH_MAX + 280];
	struct listener *found;
	uint16_t lowest = 0;
	struct dirent *e;
	unsigned nr = 0;
	uint64_t inode;
	DIR *dir;

	path_of(path, l, tgid, "fd");
	dir = l->all.nr ? opendir(path) : NULL;
	while (dir && (e = readdir(dir)) && nr++ < FDS_MAX) {
		snprintf(fd_path, sizeof(fd_path), "%s/%s", path, e->d_name);
		if (!inode_of(fd_path, &inode) || !(found = find_inode(l, inode)))
			continue;
		if (!lowest || found->port < lowest)
			lowest = found->port;
		/* of those that share it, the one that began it has the lowest number, mostly */
		if (found->tgid && found->tgid <= tgid)
			continue;
		found->tgid = tgid;
		read_name(l, tgid, found->name);
	}
	if (dir)
		closedir(dir);
	return lowest;
}

static void each_process(struct sockets_listen *l,
			 void (*take)(struct sockets_listen *l, uint32_t tgid))
{
	DIR *dir = opendir(l->root);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		struct str name = str_of(e->d_name);
		uint64_t tgid;

		if (str_take_uint(&name, &tgid) && !name.n && tgid <= UINT32_MAX)
			take(l, (uint32_t)tgid);
	}
	if (dir)
		closedir(dir);
}

static void take_process(struct sockets_listen *l, uint32_t tgid)
{
	read_process(l, tgid);
}

static void read_all(struct sockets_listen *l)
{
	vec_clear(&l->all);
	vec_clear(&l->netns);
	each_process(l, read_netns);
	if (l->all.nr)
		qsort(l->all.v, l->all.nr, sizeof(*l->all.v), cmp_inode);
	each_process(l, take_process);
	l->read_at = time_tick();
}

static bool read_again(struct sockets_listen *l)
{
	if (time_tick() - l->read_at < AGAIN_NS)
		return false;
	read_all(l);
	return true;
}

static uint16_t port_of(void *to, uint32_t tgid)
{
	struct sockets_listen *l = to;
	uint16_t port = read_process(l, tgid);

	return port || !read_again(l) ? port : read_process(l, tgid);
}

static const struct listener *find_port(const struct sockets_listen *l, uint32_t netns,
					uint16_t port)
{
	vec_each (&l->all, it)
		if (it->port == port && it->netns == netns && it->tgid)
			return it;
	return NULL;
}

static uint32_t at(void *to, uint32_t netns, uint16_t port, char name[16])
{
	struct sockets_listen *l = to;
	const struct listener *found = find_port(l, netns, port);

	if (!found && read_again(l))
		found = find_port(l, netns, port);
	if (!found)
		return 0;
	memcpy(name, found->name, sizeof(found->name));
	return found->tgid;
}

struct sockets_listeners sockets_listen_ask(struct sockets_listen *l)
{
	return (struct sockets_listeners){ l, port_of, at };
}

struct sockets_listen *sockets_listen_new(const char *root)
{
	struct sockets_listen *l = mem_zalloc(sizeof(*l));

	l->root = mem_alloc(strlen(root) + 1);
	memcpy(l->root, root, strlen(root) + 1);
	read_all(l);
	return l;
}

void sockets_listen_free(struct sockets_listen *l)
{
	vec_done(&l->all);
	vec_done(&l->netns);
	free(l->root);
	free(l);
}
