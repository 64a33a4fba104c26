/*
 * A layout is learned from the beginning of a file, which a worker in the middle of it does not
 * see, so the plan carries the beginnings, and every worker learns from them what the driver
 * learned.
 *
 * Engines cut plain text into lines and unpack gzip by the name of the file. Everything else the
 * driver reads itself: what is packed otherwise, traces, text with a byte order mark, logs of which
 * a line alone does not tell whether an event begins, and names that mean something to an engine.
 */
#include "cli/engine_plan.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "cli/beside.h"
#include "cli/command.h"
#include "cli/engine.h"
#include "cli/models.h"
#include "program/model_file.h"
#include "source/formats.h"
#include "source/input.h"
#include "source/kin.h"
#include "source/layout.h"
#include "source/logs.h"
#include "source/source.h"

#define PLAN_MAGIC "culprit plan " CULPRIT_VERSION "\n"

/* Characters that neither Hadoop nor Spark takes for anything else, nor writes otherwise. */
static bool is_harmless(const char *path)
{
	static const char good[] = "/._-+=@~";

	for (; *path; path++)
		if (!((*path >= 'a' && *path <= 'z') || (*path >= 'A' && *path <= 'Z') ||
		      (*path >= '0' && *path <= '9') || strchr(good, *path)))
			return false;
	return true;
}

static bool is_gzip(const char *path)
{
	cleanup(fclose) FILE *f = fopen(path, "re");
	unsigned char two[2];

	return f && fread(two, 1, 2, f) == 2 && two[0] == 0x1f && two[1] == 0x8b;
}

/* Whether the engine reads the same bytes as we do: it goes by the name, we by the first bytes. */
static bool is_read_alike(struct input *in, const char *uri)
{
	static const char *const packed[] = { ".bz2", ".zst", ".deflate", ".snappy", ".lz4" };
	struct str head = input_head(in, NULL);
	struct stat st;

	if (stat(input_path(in), &st) || !S_ISREG(st.st_mode) || input_start(in) ||
	    str_starts(head, STR("\xef\xbb\xbf")))
		return false;
	for (size_t i = 0; i < sizeof(packed) / sizeof(*packed); i++)
		if (str_ends(str_of(uri), str_of(packed[i])))
			return false;
	return str_ends(str_of(uri), STR(".gz")) ? is_gzip(input_path(in)) : input_is_plain(in);
}

static bool can_be_cut(const struct plan *p, struct input *in, struct str kin)
{
	const struct source_options o = { .layout = p->layout, .zone = p->zone };
	const struct logs_about about = { input_path(in), input_mtime(in), input_head(in, NULL),
					  kin };
	struct logs logs = { 0 };
	struct error err;
	bool can;

	if (source_find(in) != &source_logs || logs_open(&logs, &about, &o, &err) < 0)
		return false;
	can = layout_shows_beginnings(logs.layout);
	logs_close(&logs);
	return can;
}

/* A file that cannot even be opened is the driver's, who says so. */
static void add_file(struct plan *p, const struct source_list *list, size_t nr, struct str kin)
{
	const char *path = list->paths[nr];
	struct plan_file f = { .path = arena_z(&p->arena, str_of(path)),
			       .name = arena_z(&p->arena, str_of(path + list->name_at[nr])),
			       .uri = "",
			       .is_found = list->is_found[nr] };
	cleanup(free) char *real = strcmp(path, "-") ? realpath(path, NULL) : NULL;
	struct input *in = NULL;
	struct error err;

	f.kin = arena_str(&p->arena, kin);
	if (real && is_harmless(real) && input_open(&in, path, &err) >= 0 &&
	    is_read_alike(in, real) && can_be_cut(p, in, kin)) {
		f.uri = arena_z(&p->arena, str_of(real));
		f.bytes = input_bytes(in);
		f.mtime_ns = input_mtime(in);
		f.mark = input_mark(in);
		f.is_plain = input_is_plain(in);
		f.head = arena_str(&p->arena, input_head(in, NULL));
	}
	input_close(in);
	vec_push(&p->files, f);
}

/* As the C library names it: TZ, or what /etc/localtime leads to; "" when neither tells. */
static const char *timezone_here(struct arena *arena)
{
	const char *tz = getenv("TZ"), *at;
	char link[PATH_MAX];
	ssize_t n;

	if (tz)
		return arena_z(arena, str_of(tz));
	n = readlink("/etc/localtime", link, sizeof(link) - 1);
	link[n > 0 ? n : 0] = 0;
	at = strstr(link, "zoneinfo/");
	return arena_z(arena, str_of(at ? at + strlen("zoneinfo/") : ""));
}

uint64_t plan_model_mark(const struct model_file *m)
{
	const uint64_t counts[] = { model_nr_points(m), model_nr_versions(m), model_nr_methods(m),
				    model_nr_tops(m), model_nr_literals(m) };

	return str_hash((struct str){ (const char *)counts, sizeof(counts) });
}

static int add_models(struct plan *p, const char *named, struct error *err)
{
	struct str rest = str_of(named ? named : "");

	while (rest.n) {
		struct str one = str_head(rest, str_find_char(rest, ','));
		const char *path = arena_z(&p->arena, one);
		struct model_file *m = NULL;
		int got;

		rest = str_skip(rest, one.n + 1);
		if (!one.n)
			continue;
		if (!access(path, F_OK) && !model_is_model(path))
			return error_set(
				err, EINVAL,
				"'%s' is no model, and workers learn none themselves; make "
				"one: culprit learn lib/ -o program.model",
				path);
		got = model_open(&m, path, err);
		if (got < 0)
			return got;
		vec_push(&p->models, plan_model_mark(m));
		model_close(m);
	}
	return 0;
}

int plan_make(struct plan *p, const struct call *call, char *const *inputs, size_t nr,
	      struct error *err)
{
	const char *layout = call_get(call, "layout"), *zone = call_get(call, "zone");
	struct source_list list = { 0 };
	struct kin kin = { 0 };
	int got = add_models(p, call_get(call, "model"), err);

	p->layout = layout ? arena_z(&p->arena, str_of(layout)) : NULL;
	p->zone = zone ? arena_z(&p->arena, str_of(zone)) : NULL;
	p->timezone = timezone_here(&p->arena);
	for (size_t i = 0; i < nr && got >= 0; i++)
		if (models_is_program(inputs[i]))
			got = error_set(err, EINVAL,
					"'%s' is a program: workers need its model (culprit learn "
					"%s -o program.model, then --model program.model)",
					inputs[i], inputs[i]);
	if (got >= 0)
		got = source_expand(inputs, nr, &list, err);
	for (size_t i = 0; i < list.nr && got >= 0; i++)
		add_file(p, &list, i, kin_of_listed(&kin, &list, i));
	kin_done(&kin);
	source_list_done(&list);
	return got;
}

static void put_file(struct buf *b, const struct plan_file *f)
{
	buf_bytes(b, str_of(f->path));
	buf_bytes(b, str_of(f->name));
	buf_bytes(b, str_of(f->uri));
	buf_varint(b, f->bytes);
	buf_svarint(b, f->mtime_ns);
	buf_varint(b, f->mark);
	buf_varint(b, f->is_plain);
	buf_varint(b, f->is_found);
	buf_bytes(b, f->head);
	buf_bytes(b, f->kin);
}

int plan_write(const struct plan *p, const char *path, struct error *err)
{
	struct buf b = { 0 };
	struct beside out;
	int got = beside_open(&out, path, err);

	if (got < 0)
		return got;
	buf_add(&b, STR(PLAN_MAGIC));
	buf_bytes(&b, str_of(p->layout ? p->layout : ""));
	buf_bytes(&b, str_of(p->zone ? p->zone : ""));
	buf_bytes(&b, str_of(p->timezone));
	buf_varint(&b, p->models.nr);
	for (size_t i = 0; i < p->models.nr; i++)
		buf_varint(&b, p->models.v[i]);
	buf_varint(&b, p->files.nr);
	for (size_t i = 0; i < p->files.nr; i++)
		put_file(&b, &p->files.v[i]);
	fwrite(b.p, 1, b.n, out.file);
	buf_done(&b);
	return beside_close(&out, 0, err);
}

static bool take_z(struct str *s, struct arena *arena, const char **z)
{
	struct str v;

	if (!str_take_bytes(s, &v))
		return false;
	*z = arena_z(arena, v);
	return true;
}

static bool take_file(struct str *s, struct arena *arena, struct plan_file *f)
{
	uint64_t is_plain, is_found;

	if (!take_z(s, arena, &f->path) || !take_z(s, arena, &f->name) ||
	    !take_z(s, arena, &f->uri) || !str_take_varint(s, &f->bytes) ||
	    !str_take_svarint(s, &f->mtime_ns) || !str_take_varint(s, &f->mark) ||
	    !str_take_varint(s, &is_plain) || !str_take_varint(s, &is_found) ||
	    !str_take_bytes(s, &f->head) || !str_take_bytes(s, &f->kin))
		return false;
	f->is_plain = is_plain;
	f->is_found = is_found;
	return true;
}

static bool take_plan(struct plan *p, struct str s)
{
	uint64_t nr, size;

	if (!take_z(&s, &p->arena, &p->layout) || !take_z(&s, &p->arena, &p->zone) ||
	    !take_z(&s, &p->arena, &p->timezone) || !str_take_varint(&s, &nr))
		return false;
	p->layout = *p->layout ? p->layout : NULL;
	p->zone = *p->zone ? p->zone : NULL;
	for (; nr; nr--) {
		if (!str_take_varint(&s, &size))
			return false;
		vec_push(&p->models, size);
	}
	if (!str_take_varint(&s, &nr))
		return false;
	for (; nr; nr--) {
		struct plan_file f = { 0 };

		if (!take_file(&s, &p->arena, &f))
			return false;
		vec_push(&p->files, f);
	}
	return !s.n;
}

int plan_of_bytes(struct plan *p, struct str image, struct error *err)
{
	if (!str_take(&image, STR(PLAN_MAGIC))) {
		if (str_starts(image, STR("culprit plan ")))
			return error_set(err, EINVAL,
					 "the plan is of another version of culprit than this "
					 "worker's, " CULPRIT_VERSION);
		return error_set(err, EINVAL, "this is no plan of a distributed run");
	}
	if (!take_plan(p, image))
		return error_set(err, EBADMSG, "the plan is damaged");
	return 0;
}

int plan_read(struct plan *p, const char *path, struct error *err)
{
	cleanup(fclose) FILE *f = fopen(path, "re");
	size_t n;
	int got;

	if (!f)
		return error_set(err, errno, "cannot open the plan '%s': %s", path,
				 strerror(errno));
	while ((n = fread(buf_room(&p->image, 1 << 16), 1, 1 << 16, f)) > 0)
		p->image.n += n;
	if (ferror(f))
		return error_set(err, EIO, "cannot read the plan '%s'", path);
	got = plan_of_bytes(p, buf_str(&p->image), err);
	return got < 0 ? error_prefix(err, "'%s'", path) : 0;
}

void plan_done(struct plan *p)
{
	vec_done(&p->files);
	vec_done(&p->models);
	arena_done(&p->arena);
	buf_done(&p->image);
}

/* "file:/logs/nn.log" and "file:///logs/nn.log" are "/logs/nn.log". */
static struct str without_scheme(struct str uri)
{
	if (!str_take(&uri, STR("file:")))
		return uri;
	while (uri.n > 1 && uri.p[0] == '/' && uri.p[1] == '/')
		uri = str_skip(uri, 1);
	return uri;
}

/* Engines may name the machine of a file system that the user left out. */
int64_t plan_find(const struct plan *p, struct str uri)
{
	uri = without_scheme(uri);
	for (size_t i = 0; i < p->files.nr; i++)
		if (uri.n && str_eq(str_of(p->files.v[i].uri), uri))
			return (int64_t)i;
	for (size_t i = 0; i < p->files.nr; i++) {
		struct str own = str_of(p->files.v[i].uri);

		if (own.n &&
		    str_eq(str_skip(own, engine_path_of(own)), str_skip(uri, engine_path_of(uri))))
			return (int64_t)i;
	}
	return -1;
}

int plan_logs(const struct plan *p, size_t nr, const struct statements *st, struct logs *logs,
	      struct error *err)
{
	const struct plan_file *f = &p->files.v[nr];
	const struct source_options o = { .layout = p->layout, .zone = p->zone, .statements = st };
	const struct logs_about about = { f->path, f->mtime_ns, f->head, f->kin };
	int got = logs_open(logs, &about, &o, err);

	return got < 0 ? error_prefix(err, "'%s'", f->path) : 0;
}
