#include "store/catalog.h"

#include <limits.h>

#include "base/error.h"
#include "base/time.h"
#include "store/db.h"

enum { ROW_CATALOG, ROW_NAMES };

void catalog_done(struct catalog *c)
{
	arena_done(&c->arena);
	vec_done(&c->files);
	vec_done(&c->facts);
	vec_done(&c->fixes);
	vec_done(&c->types);
	*c = (struct catalog){ 0 };
}

static struct str absolute_of(struct catalog *c, struct str path)
{
	char real[PATH_MAX];

	if (str_eq(path, STR("-")) || !realpath(arena_z(&c->arena, path), real))
		return STR("");
	return arena_str(&c->arena, str_of(real));
}

uint32_t catalog_add_file(struct catalog *c, const struct file_seen *seen)
{
	struct catalog_file file = { .f.seen = *seen };

	file.f.number = (uint32_t)c->files.nr + 1;
	file.f.seen.path = arena_str(&c->arena, seen->path);
	file.f.seen.name = seen->name.n ? arena_str(&c->arena, seen->name) : file.f.seen.path;
	file.f.seen.format = arena_str(&c->arena, seen->format);
	file.f.seen.layout = arena_str(&c->arena, seen->layout);
	file.absolute = absolute_of(c, seen->path);
	vec_push(&c->files, file);
	c->totals.nr_files++;
	c->totals.bytes += seen->bytes;
	return file.f.number;
}

struct catalog_file *catalog_file(struct catalog *c, uint32_t number)
{
	return number && number <= c->files.nr ? &c->files.v[number - 1] : NULL;
}

void catalog_renew_file(struct catalog *c, uint32_t number, const struct file_seen *seen)
{
	struct catalog_file *file = catalog_file(c, number);
	struct file_seen *is = file ? &file->f.seen : NULL;

	if (!file)
		return;
	/* names rarely change, and the arena gives nothing back */
	if (!str_eq(is->path, seen->path)) {
		is->path = arena_str(&c->arena, seen->path);
		file->absolute = absolute_of(c, is->path);
	}
	if (!str_eq(is->name, seen->name.n ? seen->name : seen->path))
		is->name = seen->name.n ? arena_str(&c->arena, seen->name) : is->path;
	c->totals.bytes += seen->bytes - is->bytes;
	is->bytes = seen->bytes;
	is->mtime_ns = seen->mtime_ns;
	is->mark = seen->mark;
}

void catalog_set_fact(struct catalog *c, struct str name, struct str value)
{
	struct catalog_fact fact = { name, arena_str(&c->arena, value) };

	vec_each (&c->facts, f)
		if (str_eq(f->name, name)) {
			f->value = fact.value;
			return;
		}
	fact.name = arena_str(&c->arena, name);
	vec_push(&c->facts, fact);
}

void catalog_saw(struct catalog *c, int64_t ns)
{
	struct store_totals *t = &c->totals;

	if (ns == NS_NONE)
		return;
	if (t->first_ns == NS_NONE || ns < t->first_ns)
		t->first_ns = ns;
	if (t->last_ns == NS_NONE || ns > t->last_ns)
		t->last_ns = ns;
}

/* --- saving ---------------------------------------------------------------------------------- */

static void add_totals(struct buf *b, const struct store_totals *t)
{
	buf_varint(b, t->nr_files);
	buf_varint(b, t->nr_events);
	buf_varint(b, t->nr_log_lines);
	buf_varint(b, t->nr_spans);
	buf_varint(b, t->nr_requests);
	buf_varint(b, t->bytes);
	buf_svarint(b, t->first_ns);
	buf_svarint(b, t->last_ns);
}

static void add_losses(struct buf *b, const struct losses *l)
{
	uint64_t nr = 0;

	for (int i = 0; i < LOSS_NR; i++)
		nr += l->count[i] != 0;
	buf_varint(b, nr);
	for (int i = 0; i < LOSS_NR; i++) {
		if (!l->count[i])
			continue;
		buf_bytes(b, str_of(loss_name(i)));
		buf_varint(b, l->count[i]);
	}
}

static void add_file(struct buf *b, const struct catalog_file *file)
{
	const struct file_seen *seen = &file->f.seen;

	buf_bytes(b, seen->path);
	buf_bytes(b, seen->name);
	buf_bytes(b, seen->format);
	buf_bytes(b, seen->layout);
	buf_bytes(b, file->absolute);
	buf_varint(b, seen->bytes);
	buf_svarint(b, seen->mtime_ns);
	buf_varint(b, file->f.nr_events);
	buf_varint(b, file->f.nr_lines);
}

static void add_fix(struct buf *b, const struct clock_fix *fix)
{
	buf_bytes(b, fix->node);
	buf_svarint(b, fix->offset_ns);
	buf_varint(b, fix->pairs);
	buf_varint(b, fix->agree);
	buf_varint(b, fix->applied);
}

static int save_names(const struct syms *syms, struct db *db, struct error *err)
{
	struct buf b = { 0 };
	int r;

	buf_varint(&b, syms->names.nr ? syms->names.nr - 1 : 0);
	for (sym_t i = 1; i < syms->names.nr; i++)
		buf_bytes(&b, syms->names.v[i]);
	r = db_put(db, DB_CATALOG, ROW_NAMES, buf_str(&b), err);
	buf_done(&b);
	return r;
}

int catalog_save(const struct catalog *c, const struct syms *syms, struct db *db, struct error *err)
{
	struct buf b = { 0 };
	int r;

	add_totals(&b, &c->totals);
	add_losses(&b, &c->losses);
	buf_varint(&b, c->files.nr);
	vec_each (&c->files, file)
		add_file(&b, file);
	buf_varint(&b, c->facts.nr);
	vec_each (&c->facts, fact) {
		buf_bytes(&b, fact->name);
		buf_bytes(&b, fact->value);
	}
	buf_varint(&b, c->fixes.nr);
	vec_each (&c->fixes, fix)
		add_fix(&b, fix);
	buf_varint(&b, c->types.nr);
	vec_each (&c->types, type) {
		buf_bytes(&b, type->name);
		buf_varint(&b, type->nr);
	}
	vec_each (&c->files, file)
		buf_varint(&b, file->f.seen.mark);
	r = db_put(db, DB_CATALOG, ROW_CATALOG, buf_str(&b), err);
	buf_done(&b);
	return r ? r : save_names(syms, db, err);
}

/* --- loading --------------------------------------------------------------------------------- */

static bool take_totals(struct str *s, struct store_totals *t)
{
	return str_take_varint(s, &t->nr_files) && str_take_varint(s, &t->nr_events) &&
	       str_take_varint(s, &t->nr_log_lines) && str_take_varint(s, &t->nr_spans) &&
	       str_take_varint(s, &t->nr_requests) && str_take_varint(s, &t->bytes) &&
	       str_take_svarint(s, &t->first_ns) && str_take_svarint(s, &t->last_ns);
}

/* By name, so that the list may grow and change its order; one that we do not know is left out. */
static bool take_losses(struct str *s, struct losses *l, struct arena *arena)
{
	struct str name;
	uint64_t nr, count;
	enum loss loss;

	if (!str_take_varint(s, &nr))
		return false;
	for (; nr; nr--) {
		if (!str_take_bytes(s, &name) || !str_take_varint(s, &count))
			return false;
		if (loss_find(arena_z(arena, name), &loss))
			l->count[loss] = count;
	}
	return true;
}

static bool take_files(struct str *s, struct catalog *c)
{
	uint64_t nr;

	if (!str_take_varint(s, &nr))
		return false;
	for (; nr; nr--) {
		struct catalog_file file = { .f.number = (uint32_t)c->files.nr + 1 };
		struct file_seen *seen = &file.f.seen;

		if (!str_take_bytes(s, &seen->path) || !str_take_bytes(s, &seen->name) ||
		    !str_take_bytes(s, &seen->format) || !str_take_bytes(s, &seen->layout) ||
		    !str_take_bytes(s, &file.absolute) || !str_take_varint(s, &seen->bytes) ||
		    !str_take_svarint(s, &seen->mtime_ns) ||
		    !str_take_varint(s, &file.f.nr_events) || !str_take_varint(s, &file.f.nr_lines))
			return false;
		vec_push(&c->files, file);
	}
	return true;
}

static bool take_facts(struct str *s, struct catalog *c)
{
	struct catalog_fact fact;
	uint64_t nr;

	if (!str_take_varint(s, &nr))
		return false;
	for (; nr; nr--) {
		if (!str_take_bytes(s, &fact.name) || !str_take_bytes(s, &fact.value))
			return false;
		vec_push(&c->facts, fact);
	}
	return true;
}

static bool take_fixes(struct str *s, struct catalog *c)
{
	struct clock_fix fix;
	uint64_t nr, applied;

	if (!str_take_varint(s, &nr))
		return false;
	for (; nr; nr--) {
		if (!str_take_bytes(s, &fix.node) || !str_take_svarint(s, &fix.offset_ns) ||
		    !str_take_varint(s, &fix.pairs) || !str_take_varint(s, &fix.agree) ||
		    !str_take_varint(s, &applied))
			return false;
		fix.applied = applied;
		vec_push(&c->fixes, fix);
	}
	return true;
}

static bool take_types(struct str *s, struct catalog *c)
{
	struct catalog_type type;
	uint64_t nr;

	if (!str_take_varint(s, &nr))
		return false;
	for (; nr; nr--) {
		if (!str_take_bytes(s, &type.name) || !str_take_varint(s, &type.nr))
			return false;
		vec_push(&c->types, type);
	}
	return true;
}

/* Runs of former days end before them. */
static bool take_marks(struct str *s, struct catalog *c)
{
	if (!s->n)
		return true;
	vec_each (&c->files, file)
		if (!str_take_varint(s, &file->f.seen.mark))
			return false;
	return true;
}

static bool take_names(struct str *s, struct syms *syms)
{
	struct str name;
	uint64_t nr;

	if (!str_take_varint(s, &nr) || nr > s->n)
		return false;
	for (uint64_t i = 1; i <= nr; i++)
		if (!str_take_bytes(s, &name) || names_add(&syms->names, name) != i)
			return false;
	return true;
}

int catalog_load(struct catalog *c, struct syms *syms, struct db *db, struct error *err)
{
	struct buf raw = { 0 };
	struct str s;
	uint64_t row;
	int r = db_get(db, DB_CATALOG, ROW_CATALOG, &row, &raw, err);

	if (r > 0) {
		/* strings are borrowed from the copy in the arena */
		s = arena_str(&c->arena, buf_str(&raw));
		if (!take_totals(&s, &c->totals) || !take_losses(&s, &c->losses, &c->arena) ||
		    !take_files(&s, c) || !take_facts(&s, c) || !take_fixes(&s, c) ||
		    !take_types(&s, c) || !take_marks(&s, c) || s.n)
			r = db_damaged(db, "its catalog cannot be read", err);
	}
	if (r > 0)
		r = db_get(db, DB_CATALOG, ROW_NAMES, &row, &raw, err);
	if (r > 0) {
		s = buf_str(&raw);
		if (row != ROW_NAMES || !take_names(&s, syms) || s.n)
			r = db_damaged(db, "its names cannot be read", err);
	}
	buf_done(&raw);
	if (!r)
		return db_damaged(db, "its catalog is missing", err);
	return r < 0 ? r : 0;
}
