/*
 * A block in the file is a shared mapping of it. To take pages of such a block away from the
 * process loses nothing: they are in the system's cache, or on the disk where memory is short, and
 * come back when they are touched. A thread looks every few milliseconds at how many of them the
 * process has, and takes away those of one piece of a block after the other while they are too
 * many. Where tables are asked at random every page may be the next to come back, so these are kept
 * in memory proper as long as all that is there fits into the bound, and what is written once and
 * read later makes room for them.
 */
#include "base/shelf.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define LARGE_BYTES ((size_t)1 << 20) /* smaller blocks are not worth a mapping */
#define PIECE_BYTES ((size_t)2 << 20) /* of a block, whose pages go at once */
#define LOOK_NS 2000000

struct block {
	char *p;
	size_t bytes;
	off_t at;
};

struct near {
	void *p;
	size_t bytes;
	bool is_table;
};

struct shelf {
	size_t bound, page_bytes;
	char *dir;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t trimmer;
	bool is_trimming, is_ending;
	bool is_refused; /* there is no file to be had */
	int fd, statm;
	off_t end;
	size_t near_bytes[2];  /* of large blocks in memory: tables are the second */
	VEC(struct near) near; /* those */
	VEC(struct block) blocks;
	VEC(struct block) lent; /* by the process that forked this one */
	size_t next, next_at;   /* of blocks, and where in it: whose pages go next */
	uint64_t filed;
};

struct shelf *shelf_new(size_t bound, const char *dir)
{
	struct shelf *s = mem_zalloc(sizeof(*s));
	const char *tmp = getenv("TMPDIR");
	size_t n;

	if (!dir || !*dir)
		dir = tmp && *tmp ? tmp : "/tmp";
	n = strlen(dir) + 1;
	s->dir = memcpy(mem_alloc(n), dir, n);
	s->bound = bound;
	s->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	s->fd = s->statm = -1;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, NULL);
	return s;
}

/* Pages that are written to become the child's own, which can then not be taken away. */
bool shelf_branch(struct shelf *s)
{
	bool ok = true;

	/* whoever had the lock is not here any more, nor is the thread that trims */
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, NULL);
	s->is_trimming = false;
	vec_each (&s->blocks, b) {
		ok &= mmap(b->p, b->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, s->fd,
			   b->at) != MAP_FAILED;
		vec_push(&s->lent, *b);
	}
	vec_clear(&s->blocks);
	if (s->fd >= 0)
		close(s->fd);
	if (s->statm >= 0)
		close(s->statm);
	s->fd = s->statm = -1;
	s->end = 0;
	return ok;
}

/* --- pages of the process ------------------------------------------------------------------ */

/* Pages of files, and all others. */
static bool count_pages(const struct shelf *s, size_t *of_files, size_t *others)
{
	char text[128];
	ssize_t n = pread(s->statm, text, sizeof(text) - 1, 0);
	unsigned long v[3]; /* size, resident, shared */
	char *p = text;

	if (n <= 0)
		return false;
	text[n] = 0;
	for (int i = 0; i < 3; i++) {
		char *from = p;

		v[i] = strtoul(from, &p, 10);
		if (p == from)
			return false;
	}
	if (v[2] > v[1])
		return false;
	*of_files = v[2] * s->page_bytes;
	*others = (v[1] - v[2]) * s->page_bytes;
	return true;
}

static size_t bytes_for_files(const struct shelf *s, size_t others)
{
	size_t least = s->bound / 4;

	return others + least < s->bound ? s->bound - others : least;
}

/* Takes the next pages away; true when these were the last of a block. */
static bool drop_piece(struct shelf *s)
{
	const struct block *b;
	size_t left;

	if (s->next >= s->blocks.nr)
		s->next = s->next_at = 0;
	b = &s->blocks.v[s->next];
	left = b->bytes > s->next_at ? b->bytes - s->next_at : 0;
	if (left)
		madvise(b->p + s->next_at, left < PIECE_BYTES ? left : PIECE_BYTES, MADV_DONTNEED);
	s->next_at += PIECE_BYTES;
	if (left > PIECE_BYTES)
		return false;
	s->next++;
	s->next_at = 0;
	return true;
}

/* With the lock. */
static void trim(struct shelf *s)
{
	size_t of_files, others, room;
	bool is_begun = false;

	if (!count_pages(s, &of_files, &others))
		return;
	room = bytes_for_files(s, others);
	for (size_t nr = 0; nr < s->blocks.nr && of_files > (is_begun ? room / 8 * 7 : room);) {
		nr += drop_piece(s);
		is_begun = true;
		if (!count_pages(s, &of_files, &others))
			return;
	}
}

static void *trim_always(void *arg)
{
	struct shelf *s = arg;
	struct timespec until;

	pthread_mutex_lock(&s->lock);
	while (!s->is_ending) {
		trim(s);
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += LOOK_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&s->wake, &s->lock, &until);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* --- blocks -------------------------------------------------------------------------------- */

static int open_file(const char *dir)
{
	static const char tail[] = "/.culprit-XXXXXX";
	int fd = open(dir, O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	size_t n = strlen(dir);
	char *name;

	if (fd >= 0)
		return fd;
	name = mem_alloc(n + sizeof(tail));
	memcpy(name, dir, n);
	memcpy(name + n, tail, sizeof(tail));
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd;
}

static bool has_file(struct shelf *s)
{
	if (s->fd >= 0 || s->is_refused)
		return s->fd >= 0;
	s->fd = open_file(s->dir);
	s->is_refused = s->fd < 0;
	return !s->is_refused;
}

static void begin_trimming(struct shelf *s)
{
	if (s->is_trimming)
		return;
	s->statm = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	s->is_trimming = s->statm >= 0 && !pthread_create(&s->trimmer, NULL, trim_always, s);
}

/* NULL when the file cannot take it: room is asked for first, since a write into a mapping that
 * finds none ends the program. */
static void *file_block(struct shelf *s, size_t bytes, bool is_table)
{
	struct block b = { .bytes = (bytes | (s->page_bytes - 1)) + 1, .at = s->end };

	if (!has_file(s) || fallocate(s->fd, 0, b.at, (off_t)b.bytes) < 0)
		return NULL;
	b.p = mmap(NULL, b.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, b.at);
	if (b.p == MAP_FAILED)
		return NULL;
	/* who asks at random does not want the pages around */
	if (is_table)
		madvise(b.p, b.bytes, MADV_RANDOM);
	s->end += (off_t)b.bytes;
	s->filed += b.bytes;
	vec_push(&s->blocks, b);
	begin_trimming(s);
	if (s->is_trimming)
		trim(s);
	return b.p;
}

/* With the lock: the large block in memory that begins there, or NULL. */
static struct near *near_at(const struct shelf *s, const void *p)
{
	for (size_t i = 0; p && i < s->near.nr; i++)
		if (s->near.v[i].p == p)
			return &s->near.v[i];
	return NULL;
}

/* With the lock: a large block that was in memory is counted no more. */
static void forget_near(struct shelf *s, const void *p)
{
	struct near *n = near_at(s, p);

	if (!n)
		return;
	s->near_bytes[n->is_table] -= n->bytes;
	*n = s->near.v[--s->near.nr];
}

/* With the lock: whether so many bytes more may be in memory, where those of old go soon. */
static bool has_room(const struct shelf *s, size_t bytes, bool is_table, const void *old)
{
	const struct near *replaced = near_at(s, old);

	if (replaced)
		bytes -= replaced->bytes < bytes ? replaced->bytes : bytes;
	if (s->near_bytes[0] + s->near_bytes[1] + bytes <= s->bound / 2)
		return true;
	return is_table ? s->near_bytes[0] + s->near_bytes[1] + bytes <= s->bound
			: s->near_bytes[0] + bytes <= s->bound / 8;
}

static void *take(struct shelf *s, size_t bytes, void *(*alloc)(size_t), bool is_table,
		  const void *old)
{
	void *p = NULL;

	if (!s || bytes < LARGE_BYTES)
		return alloc(bytes);
	pthread_mutex_lock(&s->lock);
	if (!has_room(s, bytes, is_table, old))
		p = file_block(s, bytes, is_table);
	if (!p) {
		p = alloc(bytes);
		s->near_bytes[is_table] += bytes;
		vec_push(&s->near, (struct near){ p, bytes, is_table });
	}
	pthread_mutex_unlock(&s->lock);
	return p;
}

void *shelf_alloc(struct shelf *s, size_t bytes)
{
	return take(s, bytes, mem_alloc, false, NULL);
}

void *shelf_zalloc(struct shelf *s, size_t bytes)
{
	return take(s, bytes, mem_zalloc, false, NULL);
}

void *shelf_table(struct shelf *s, size_t bytes, const void *old)
{
	return take(s, bytes, mem_zalloc, true, old);
}

/* Large blocks are moved faster than their pages are taken away: that is seen to on the way. */
static void move(struct shelf *s, char *to, const char *from, size_t bytes)
{
	for (size_t n; bytes; bytes -= n, to += n, from += n) {
		n = bytes < PIECE_BYTES ? bytes : PIECE_BYTES;
		memcpy(to, from, n);
		pthread_mutex_lock(&s->lock);
		if (s->is_trimming)
			trim(s);
		pthread_mutex_unlock(&s->lock);
	}
}

/* What stays in memory is moved by the system, without a copy. NULL: it does not, or is a table. */
static void *grow_near(struct shelf *s, void *p, size_t bytes)
{
	struct near *n;

	pthread_mutex_lock(&s->lock);
	n = near_at(s, p);
	if (n && !n->is_table && bytes >= n->bytes && has_room(s, bytes, false, p)) {
		s->near_bytes[0] += bytes - n->bytes;
		n->bytes = bytes;
		n->p = mem_realloc(p, bytes);
	} else {
		n = NULL;
	}
	p = n ? n->p : NULL;
	pthread_mutex_unlock(&s->lock);
	return p;
}

void *shelf_realloc(struct shelf *s, void *p, size_t old_bytes, size_t bytes)
{
	void *made;

	if (!s || (bytes < LARGE_BYTES && old_bytes < LARGE_BYTES))
		return mem_realloc(p, bytes);
	made = p ? grow_near(s, p, bytes) : NULL;
	if (made)
		return made;
	made = shelf_alloc(s, bytes);
	if (p)
		move(s, made, p, old_bytes < bytes ? old_bytes : bytes);
	shelf_give(s, p);
	return made;
}

/* With the lock: what is lent is given back without a change to it. */
static bool give_lent(struct shelf *s, const void *p)
{
	for (size_t i = 0; i < s->lent.nr; i++) {
		if (s->lent.v[i].p != p)
			continue;
		munmap(s->lent.v[i].p, s->lent.v[i].bytes);
		s->filed -= s->lent.v[i].bytes;
		s->lent.v[i] = s->lent.v[--s->lent.nr];
		return true;
	}
	return false;
}

/* With the lock: false when it is no block of the file. */
static bool give_filed(struct shelf *s, const void *p)
{
	size_t i = 0;
	struct block b;

	if (give_lent(s, p))
		return true;
	while (i < s->blocks.nr && s->blocks.v[i].p != p)
		i++;
	if (i == s->blocks.nr)
		return false;
	b = s->blocks.v[i];
	s->filed -= b.bytes;
	s->blocks.v[i] = s->blocks.v[--s->blocks.nr];
	/* nobody knows of it any more: this takes its time, in which pages are to go on being taken
	 * away; what nobody needs need not be written */
	pthread_mutex_unlock(&s->lock);
	munmap(b.p, b.bytes);
	(void)!fallocate(s->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, b.at, (off_t)b.bytes);
	pthread_mutex_lock(&s->lock);
	return true;
}

void shelf_give(struct shelf *s, void *p)
{
	bool is_filed = false;

	if (s && p) {
		pthread_mutex_lock(&s->lock);
		is_filed = give_filed(s, p);
		if (!is_filed)
			forget_near(s, p);
		pthread_mutex_unlock(&s->lock);
	}
	if (!is_filed)
		free(p);
}

void shelf_leave(const struct shelf *s, void *block, size_t bytes)
{
	uintptr_t end = (uintptr_t)block + bytes, begin = end - PIECE_BYTES, page;

	if (!s || bytes < PIECE_BYTES || bytes % PIECE_BYTES)
		return;
	/* the first page may hold what the allocator knows of the block */
	page = s->page_bytes;
	begin = (begin + page) & ~(page - 1);
	madvise((void *)begin, (end & ~(page - 1)) - begin, MADV_DONTNEED);
}

void shelf_look(struct shelf *s)
{
	if (!s)
		return;
	/* who waits for the thread that trims lets it have its turn */
	pthread_mutex_lock(&s->lock);
	if (s->is_trimming)
		trim(s);
	pthread_mutex_unlock(&s->lock);
}

uint64_t shelf_filed(struct shelf *s)
{
	uint64_t filed;

	pthread_mutex_lock(&s->lock);
	filed = s->filed;
	pthread_mutex_unlock(&s->lock);
	return filed;
}

void shelf_free(struct shelf *s)
{
	if (!s)
		return;
	pthread_mutex_lock(&s->lock);
	s->is_ending = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	if (s->is_trimming)
		pthread_join(s->trimmer, NULL);
	pthread_mutex_lock(&s->lock);
	while (s->blocks.nr)
		give_filed(s, s->blocks.v[0].p);
	pthread_mutex_unlock(&s->lock);
	while (s->lent.nr)
		give_lent(s, s->lent.v[0].p);
	if (s->fd >= 0)
		close(s->fd);
	if (s->statm >= 0)
		close(s->statm);
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->wake);
	vec_done(&s->blocks);
	vec_done(&s->lent);
	vec_done(&s->near);
	free(s->dir);
	free(s);
}
