#include "bus/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "bus/buslink.h"

#define FILE_MAX ((size_t)1 << 20)
#define PATH_ROOM 4096

static const char *const roles[] = { "agent", "operator", "hub" };

const char *bus_role_name(enum bus_role role)
{
	return roles[role];
}

bool bus_role_find(struct str name, enum bus_role *role)
{
	for (int i = BUS_AGENT; i <= BUS_HUB; i++)
		if (str_eq(name, str_of(roles[i]))) {
			*role = (enum bus_role)i;
			return true;
		}
	return false;
}

bool bus_name_is_fine(struct str name)
{
	if (!name.n || name.n > BUS_NAME_MAX || name.p[0] == '.')
		return false;
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      c == '.' || c == '-' || c == '_'))
			return false;
	}
	return true;
}

/* "*" stands for all of them. */
static bool is_tenant(struct str name)
{
	return str_eq(name, STR("*")) || bus_name_is_fine(name);
}

static bool is_key(struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] <= ' ' || text.p[i] > '~')
			return false;
	return text.n == KEY_TEXT - 1;
}

static void put(char *to, size_t room, struct str text)
{
	snprintf(to, room, STR_FMT, STR_ARG(text));
}

/* --- files --------------------------------------------------------------------------------- */

static int read_all(const char *path, bool is_secret, struct buf *b, struct stat *st,
		    struct error *err)
{
	cleanup(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;

	if (fd < 0 || fstat(fd, st) < 0)
		return error_set(err, errno, "cannot read '%s': %s", path, strerror(errno));
	if (is_secret && (st->st_mode & 077))
		return error_set(err, EPERM,
				 "'%s' holds a secret key and others may read it; chmod 600 it",
				 path);
	while (n > 0 && b->n < FILE_MAX) {
		n = read(fd, buf_room(b, 65536), 65536);
		b->n += n > 0 ? (size_t)n : 0;
	}
	return n < 0 ? error_set(err, errno, "cannot read '%s': %s", path, strerror(errno)) : 0;
}

/* Beside the old one, which it replaces when it is whole. */
static int write_all(const char *path, struct str text, struct error *err)
{
	char beside[PATH_ROOM];
	int fd, r = 0;

	snprintf(beside, sizeof(beside), "%s.new", path);
	fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set(err, errno, "cannot write '%s': %s", beside, strerror(errno));
	if (write(fd, text.p, text.n) != (ssize_t)text.n || fsync(fd) < 0)
		r = error_set(err, errno ? errno : EIO, "cannot write '%s': %s", beside,
			      strerror(errno));
	close(fd);
	if (!r && rename(beside, path) < 0)
		r = error_set(err, errno, "cannot rename '%s': %s", beside, strerror(errno));
	return r;
}

static void path_in(char *path, const char *dir, const char *name, const char *end)
{
	snprintf(path, PATH_ROOM, "%s/%s%s", dir, name, end);
}

/* --- one's own keys ------------------------------------------------------------------------ */

static void write_keys(struct buf *b, const struct bus_keys *k)
{
	buf_fmt(b, "# keys of culprit: the secret one is for this %s alone\n",
		bus_role_name(k->role));
	buf_fmt(b, "role %s\nname %s\ntenant %s\npublic %s\nsecret %s\n", bus_role_name(k->role),
		k->name, k->tenant, k->public_key, k->secret_key);
	if (k->hub_key[0])
		buf_fmt(b, "hub %s\n", k->hub_key);
}

static bool take_field(struct bus_keys *k, struct str key, struct str value)
{
	if (str_eq(key, STR("role")))
		return bus_role_find(value, &k->role);
	if (str_eq(key, STR("name")) || str_eq(key, STR("tenant"))) {
		put(key.p[0] == 'n' ? k->name : k->tenant, BUS_NAME_MAX + 1, value);
		return key.p[0] == 'n' ? bus_name_is_fine(value) : is_tenant(value);
	}
	if (!str_eq(key, STR("public")) && !str_eq(key, STR("secret")) && !str_eq(key, STR("hub")))
		return false;
	put(key.p[0] == 'p'   ? k->public_key
	    : key.p[0] == 's' ? k->secret_key
			      : k->hub_key,
	    KEY_TEXT, value);
	return is_key(value);
}

static int parse_keys(struct bus_keys *k, struct str text, const char *path, struct error *err)
{
	struct str line, key;
	int nr = 0;

	while (str_take_line(&text, &line)) {
		nr++;
		line = str_trim(line);
		if (!line.n || line.p[0] == '#')
			continue;
		if (!str_take_until(&line, ' ', &key) || !take_field(k, key, str_trim(line)))
			return error_set(err, EBADMSG, "'%s', line %d: not of a file of keys", path,
					 nr);
	}
	if (!k->public_key[0] || !k->secret_key[0] || !k->name[0] ||
	    (!k->hub_key[0] && k->role != BUS_HUB))
		return error_set(err, EBADMSG, "'%s' is no whole file of keys", path);
	return 0;
}

int bus_keys_load(struct bus_keys **keys, const char *path, struct error *err)
{
	struct bus_keys *k = mem_zalloc(sizeof(*k));
	char file[PATH_ROOM];
	struct buf b = { 0 };
	struct stat st;
	int r;

	snprintf(file, sizeof(file), "%s", path);
	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		k->dir = mem_alloc(strlen(path) + 1);
		memcpy(k->dir, path, strlen(path) + 1);
		path_in(file, path, "hub", ".key");
	}
	r = read_all(file, true, &b, &st, err);
	if (!r)
		r = parse_keys(k, buf_str(&b), file, err);
	buf_done(&b);
	if (r < 0)
		bus_keys_free(k);
	else
		*keys = k;
	return r;
}

void bus_keys_free(struct bus_keys *k)
{
	if (!k)
		return;
	explicit_bzero(k->secret_key, sizeof(k->secret_key));
	free(k->dir);
	free(k);
}

enum bus_role bus_keys_role(const struct bus_keys *k)
{
	return k->role;
}

static int save_keys(const struct bus_keys *k, const char *path, struct error *err)
{
	struct buf b = { 0 };
	int r;

	write_keys(&b, k);
	r = write_all(path, buf_str(&b), err);
	explicit_bzero(b.p, b.n);
	buf_done(&b);
	return r;
}

/* --- those of a hub ------------------------------------------------------------------------ */

int keys_make_hub(const char *dir, struct error *err)
{
	struct bus_keys k = { .role = BUS_HUB, .name = "hub", .tenant = "default" };
	char path[PATH_ROOM];
	int r = 0;

	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return error_set(err, errno, "cannot make '%s': %s", dir, strerror(errno));
	path_in(path, dir, "hub", ".key");
	if (access(path, F_OK) < 0) {
		r = buslink_keypair(k.public_key, k.secret_key, err);
		if (!r)
			r = save_keys(&k, path, err);
	}
	path_in(path, dir, "known", "");
	if (!r && access(path, F_OK) < 0)
		r = write_all(path, STR("# role name tenant public-key\n"), err);
	explicit_bzero(&k, sizeof(k));
	return r;
}

static int append_known(const char *dir, const struct bus_keys *k, struct error *err)
{
	char path[PATH_ROOM];
	struct buf b = { 0 };
	struct stat st;
	int r;

	path_in(path, dir, "known", "");
	r = read_all(path, false, &b, &st, err);
	if (!r) {
		if (b.n && b.p[b.n - 1] != '\n')
			buf_char(&b, '\n');
		buf_fmt(&b, "%s %s %s %s\n", bus_role_name(k->role), k->name, k->tenant,
			k->public_key);
		r = write_all(path, buf_str(&b), err);
	}
	buf_done(&b);
	return r;
}

int keys_grant(const char *dir, enum bus_role role, const char *name, const char *tenant,
	       struct error *err)
{
	struct bus_keys k = { .role = role }, *own = NULL;
	char path[PATH_ROOM];
	int r;

	if (!bus_name_is_fine(str_of(name)) || !is_tenant(str_of(tenant)))
		return error_set(err, EINVAL, "'%s@%s': names are up to %d letters, digits and .-_",
				 name, tenant, BUS_NAME_MAX);
	path_in(path, dir, name, ".key");
	if (!strcmp(name, "hub") || !access(path, F_OK))
		return error_set(err, EEXIST, "'%s' has keys already; revoke them first", name);
	r = bus_keys_load(&own, dir, err);
	if (r < 0)
		return r;
	put(k.name, sizeof(k.name), str_of(name));
	put(k.tenant, sizeof(k.tenant), str_of(tenant));
	memcpy(k.hub_key, own->public_key, sizeof(k.hub_key));
	bus_keys_free(own);
	r = buslink_keypair(k.public_key, k.secret_key, err);
	if (!r)
		r = save_keys(&k, path, err);
	if (!r)
		r = append_known(dir, &k, err);
	explicit_bzero(&k, sizeof(k));
	return r;
}

/* The name that a line of the list tells, or nothing. */
static struct str known_name(struct str line)
{
	struct str role, name;

	if (!str_take_word(&line, &role) || role.p[0] == '#' || !str_take_word(&line, &name))
		return (struct str){ 0 };
	return name;
}

int keys_revoke(const char *dir, const char *name, struct error *err)
{
	struct buf b = { 0 }, kept = { 0 };
	char path[PATH_ROOM];
	bool is_found = false;
	struct str text, line;
	struct stat st;
	int r;

	path_in(path, dir, "known", "");
	r = read_all(path, false, &b, &st, err);
	text = buf_str(&b);
	while (!r && str_take_line(&text, &line)) {
		if (str_eq(known_name(line), str_of(name))) {
			is_found = true;
			continue;
		}
		buf_add(&kept, line);
		buf_char(&kept, '\n');
	}
	if (!r && !is_found)
		r = error_set(err, ENOENT, "nobody of the name '%s' is in '%s'", name, path);
	if (!r)
		r = write_all(path, buf_str(&kept), err);
	if (!r && bus_name_is_fine(str_of(name))) {
		path_in(path, dir, name, ".key");
		unlink(path);
	}
	buf_done(&b);
	buf_done(&kept);
	return r;
}

/* --- who is known -------------------------------------------------------------------------- */

void granted_done(struct granted *k)
{
	vec_done(&k->v);
}

static bool take_known(struct str line, struct granted_one *one)
{
	struct str role, name, tenant, key, more;

	if (!str_take_word(&line, &role) || !bus_role_find(role, &one->role) ||
	    !str_take_word(&line, &name) || !bus_name_is_fine(name) ||
	    !str_take_word(&line, &tenant) || !is_tenant(tenant) || !str_take_word(&line, &key) ||
	    !is_key(key) || str_take_word(&line, &more))
		return false;
	put(one->name, sizeof(one->name), name);
	put(one->tenant, sizeof(one->tenant), tenant);
	put(one->public_key, sizeof(one->public_key), key);
	return true;
}

static int parse_known(struct granted *k, struct str text, const char *path, struct error *err)
{
	struct str line;
	int nr = 0;

	while (str_take_line(&text, &line)) {
		struct granted_one one = { 0 };

		nr++;
		line = str_trim(line);
		if (!line.n || line.p[0] == '#')
			continue;
		if (!take_known(line, &one))
			return error_set(err, EBADMSG,
					 "'%s', line %d: ROLE NAME TENANT PUBLIC-KEY expected",
					 path, nr);
		vec_push(&k->v, one);
	}
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct granted_one *x = a, *y = b;

	return strcmp(x->public_key, y->public_key);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

int granted_refresh(struct granted *k, const char *dir, struct error *err)
{
	struct granted now = { 0 };
	char path[PATH_ROOM];
	struct buf b = { 0 };
	struct stat st;
	int r;

	path_in(path, dir, "known", "");
	if (!stat(path, &st) && is_same_file(&st, &k->read))
		return 0;
	r = read_all(path, false, &b, &now.read, err);
	if (!r)
		r = parse_known(&now, buf_str(&b), path, err);
	buf_done(&b);
	if (r < 0) {
		granted_done(&now);
		return r;
	}
	if (now.v.nr)
		qsort(now.v.v, now.v.nr, sizeof(*now.v.v), by_key);
	granted_done(k);
	*k = now;
	return 0;
}

const struct granted_one *granted_find(const struct granted *k, const char *public_key)
{
	struct granted_one one = { 0 };

	put(one.public_key, sizeof(one.public_key), str_of(public_key));
	return k->v.nr ? bsearch(&one, k->v.v, k->v.nr, sizeof(one), by_key) : NULL;
}
