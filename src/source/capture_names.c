/*
 * A rule is an end as text ("10.0.0.5:5432", "10.0.0.5", "*:5432") and the name that it stands for.
 * A server is named by address and port, then by address, then by the narrowest network that holds
 * it, then by port alone; a client by the same, because a process may also ask from a port that it
 * listens at, but a port alone says nothing of who asks. Where all that listens at an address has
 * one name, it is also that who asks from there. Without a rule a server is "address:port" and a
 * client its address.
 */
#include "source/capture_names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "source/input.h"

#define FILE_BYTES_MAX ((size_t)16 << 20)

#define NR_FOUND 4096

/* What was found for an end: asked for with every connection, and text is slow. */
struct found {
	struct endpoint end;
	bool is_server;
	sym_t name; /* 0: this place is free */
};

/* A network, and maybe a port in it. */
struct network {
	struct address address;
	unsigned bits; /* of the address in its 128 bits */
	unsigned port; /* 0: any */
	sym_t name;
};

struct capture_names {
	struct names ends, names; /* texts of ends; texts of names */
	VEC(sym_t) name_of;       /* by the number of the end */
	VEC(struct network) networks;
	struct buf text;
	struct found found[NR_FOUND]; /* by hash */
};

struct capture_names *capture_names_new(void)
{
	return mem_zalloc(sizeof(struct capture_names));
}

void capture_names_free(struct capture_names *n)
{
	if (!n)
		return;
	names_done(&n->ends);
	names_done(&n->names);
	vec_done(&n->name_of);
	vec_done(&n->networks);
	buf_done(&n->text);
	free(n);
}

static void add_rule(struct capture_names *n, struct str end, struct str name)
{
	sym_t at = names_add(&n->ends, end);

	while (n->name_of.nr <= at)
		vec_push(&n->name_of, 0);
	if (n->name_of.v[at])
		return;
	n->name_of.v[at] = names_add(&n->names, name);
	memset(n->found, 0, sizeof(n->found));
}

/* An end as it is written everywhere here; port 0 leaves it out. */
static struct str end_text(struct capture_names *n, const struct address *a, unsigned port)
{
	buf_clear(&n->text);
	address_text(&n->text, a);
	if (port && memchr(n->text.p, ':', n->text.n)) {
		buf_clear(&n->text);
		buf_char(&n->text, '[');
		address_text(&n->text, a);
		buf_char(&n->text, ']');
	}
	if (port)
		buf_fmt(&n->text, ":%u", port);
	return buf_str(&n->text);
}

static bool take_port(struct str s, uint64_t *port)
{
	return str_take_char(&s, ':') && str_take_uint(&s, port) && !s.n && *port &&
	       *port <= UINT16_MAX;
}

/* The key under which the one name of all that listens at an address is found. */
static struct str sole_text(struct capture_names *n, const struct address *a)
{
	buf_clear(&n->text);
	buf_char(&n->text, '~');
	address_text(&n->text, a);
	return buf_str(&n->text);
}

/* A second name at the same address makes it nobody's: the empty one. */
static void add_sole(struct capture_names *n, const struct address *a, struct str name)
{
	struct str key = sole_text(n, a);
	sym_t at = names_find(&n->ends, key);

	if (!at || at >= n->name_of.nr)
		add_rule(n, key, name);
	else if (!str_eq(names_str(&n->names, n->name_of.v[at]), name))
		n->name_of.v[at] = names_add(&n->names, STR("~"));
}

/* Brings what the user wrote into the form of end_text; false when it is none. */
static bool take_end(struct capture_names *n, struct str word, struct str name, struct str *end)
{
	struct address a;
	struct str inner;
	uint64_t port = 0;
	size_t colon;

	if (word.n > 1 && word.p[0] == '*') {
		*end = word;
		return take_port(str_skip(word, 1), &port);
	}
	if (str_take_char(&word, '[')) {
		if (!str_take_until(&word, ']', &inner) || !address_parse(inner, &a) ||
		    (word.n && !take_port(word, &port)))
			return false;
	} else if (!address_parse(word, &a)) {
		colon = str_find_char(word, ':');
		if (!address_parse(str_head(word, colon), &a) ||
		    !take_port(str_skip(word, colon), &port))
			return false;
	}
	if (port)
		add_sole(n, &a, name);
	*end = end_text(n, &a, (unsigned)port);
	return true;
}

/* "10.1.0.0/16", "2001:db8::/32", "10.1.0.0/16:80", "[2001:db8::/32]:80" */
static bool take_network(struct str word, struct network *w)
{
	struct str address, inner = word;
	uint64_t bits, port = 0;

	if (str_take_char(&word, '[') &&
	    (!str_take_until(&word, ']', &inner) || !take_port(word, &port)))
		return false;
	if (!str_take_until(&inner, '/', &address) || !address_parse(address, &w->address) ||
	    !str_take_uint(&inner, &bits) || (inner.n && (port || !take_port(inner, &port))))
		return false;
	if (bits <= 32 && !memchr(address.p, ':', address.n))
		bits += 96; /* in front of IPv4 in its mapped form */
	else if (!memchr(address.p, ':', address.n))
		return false;
	w->bits = (unsigned)bits;
	w->port = (unsigned)port;
	return bits <= 128;
}

/* The narrower one goes first, of equal ones that with a port, and then that which stands first. */
static void add_network(struct capture_names *n, struct network w)
{
	size_t at;

	vec_push(&n->networks, w);
	for (at = n->networks.nr - 1; at; at--) {
		const struct network *before = &n->networks.v[at - 1];

		if (before->bits > w.bits || (before->bits == w.bits && (before->port || !w.port)))
			break;
		n->networks.v[at] = *before;
	}
	n->networks.v[at] = w;
	memset(n->found, 0, sizeof(n->found));
}

/* A line of /etc/services: "postgresql 5432/tcp". */
static bool is_service(struct str word, struct str end, unsigned *port)
{
	uint64_t n;

	if (!word.n || !str_take_uint(&end, &n) || !n || n > UINT16_MAX)
		return false;
	*port = (unsigned)n;
	return str_eq(end, STR("/tcp")) || str_eq(end, STR("/udp")) || str_eq(end, STR("/sctp"));
}

static bool take_rule(struct capture_names *n, struct str word, struct str name)
{
	struct network w = { 0 };
	struct str end;
	char any[16];

	if (take_end(n, word, name, &end)) {
		add_rule(n, end, name);
	} else if (take_network(word, &w)) {
		w.name = names_add(&n->names, name);
		add_network(n, w);
	} else if (is_service(word, name, &w.port)) {
		snprintf(any, sizeof(any), "*:%u", w.port);
		add_rule(n, str_of(any), word);
	} else {
		return false;
	}
	return true;
}

int capture_names_parse(struct capture_names *n, struct input *in, struct error *err)
{
	struct buf all = { 0 };
	struct str rest, line, word, name;
	unsigned nr = 0;
	ssize_t got = 1;
	int r = 0;

	while (got > 0 && all.n < FILE_BYTES_MAX) {
		got = input_read(in, buf_room(&all, 65536), 65536, err);
		all.n += got > 0 ? (size_t)got : 0;
	}
	rest = buf_str(&all);
	while (got >= 0 && r == 0 && str_take_line(&rest, &line)) {
		nr++;
		line = str_head(line, str_find_char(line, '#'));
		if (!str_take_word(&line, &word))
			continue;
		if (!str_take_word(&line, &name) || !take_rule(n, word, name))
			r = error_set(err, EINVAL,
				      "line %u of '%s' is not \"ADDRESS[/BITS][:PORT] NAME\"", nr,
				      input_path(in));
	}
	buf_done(&all);
	return got < 0 ? (int)got : r;
}

int capture_names_read(struct capture_names *n, const char *path, struct error *err)
{
	struct input *in;
	int r = input_open(&in, path, err);

	if (r < 0)
		return r;
	r = capture_names_parse(n, in, err);
	input_close(in);
	return r;
}

void capture_names_add(struct capture_names *n, const struct address *a, struct str name)
{
	add_rule(n, end_text(n, a, 0), name);
}

static sym_t find(const struct capture_names *n, struct str end)
{
	sym_t at = names_find(&n->ends, end);

	return at && at < n->name_of.nr ? n->name_of.v[at] : 0;
}

static bool is_in(const struct network *w, const struct endpoint *e, bool is_any_port)
{
	unsigned whole = w->bits / 8, rest = w->bits % 8;

	return (is_any_port || !w->port || w->port == e->port) &&
	       !memcmp(w->address.b, e->address.b, whole) &&
	       (!rest || !((w->address.b[whole] ^ e->address.b[whole]) >> (8 - rest)));
}

static sym_t find_network(const struct capture_names *n, const struct endpoint *e)
{
	vec_each (&n->networks, w)
		if (is_in(w, e, false))
			return w->name;
	return 0;
}

/* Who asks from an address at which only one listens. */
static sym_t find_sole(struct capture_names *n, const struct endpoint *e)
{
	sym_t sole = find(n, sole_text(n, &e->address));

	if (sole)
		return str_eq(names_str(&n->names, sole), STR("~")) ? 0 : sole;
	vec_each (&n->networks, w) {
		if (!is_in(w, e, true))
			continue;
		if (sole && w->name != sole)
			return 0;
		sole = w->name;
	}
	return sole;
}

sym_t capture_names_rule(struct capture_names *n, const struct endpoint *e, bool is_server)
{
	char any[16];
	sym_t name;

	if (!n->name_of.nr && !n->networks.nr)
		return 0;
	name = find(n, end_text(n, &e->address, e->port));
	if (!name)
		name = find(n, end_text(n, &e->address, 0));
	if (!name)
		name = find_network(n, e);
	snprintf(any, sizeof(any), "*:%u", e->port);
	if (!name && is_server)
		name = find(n, str_of(any));
	if (!name && !is_server)
		name = find_sole(n, e);
	return name;
}

static sym_t name_of(struct capture_names *n, const struct endpoint *e, bool is_server)
{
	sym_t name = capture_names_rule(n, e, is_server);

	return name ? name
		    : names_add(&n->names, end_text(n, &e->address, is_server ? e->port : 0));
}

sym_t capture_names_sym(struct capture_names *n, const struct endpoint *e, bool is_server)
{
	struct endpoint end = *e;
	struct found *f;
	uint64_t half[2];

	if (!is_server && !n->name_of.nr &&
	    !n->networks.nr) /* any port of a client gives the same */
		end.port = 0;
	memcpy(half, end.address.b, sizeof(half));
	half[0] ^= half[1] ^ half[1] >> 32 ^ (uint64_t)end.port << 16;
	f = &n->found[half[0] * 0x9e3779b97f4a7c15ULL >> 48 & (NR_FOUND - 1)];
	if (f->name && f->is_server == is_server && f->end.port == end.port &&
	    !memcmp(&f->end.address, &end.address, sizeof(end.address)))
		return f->name;
	*f = (struct found){ end, is_server, name_of(n, e, is_server) };
	return f->name;
}

struct str capture_names_str(const struct capture_names *n, sym_t sym)
{
	return names_str(&n->names, sym);
}

struct str capture_names_server(struct capture_names *n, const struct endpoint *e)
{
	return capture_names_str(n, capture_names_sym(n, e, true));
}

struct str capture_names_client(struct capture_names *n, const struct endpoint *e)
{
	return capture_names_str(n, capture_names_sym(n, e, false));
}
