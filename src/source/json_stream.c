/*
 * A cursor over a window of the input. At the top it meets documents. An object is walked member by
 * member: one of the named arrays makes the cursor go inside, and an object that has none of them
 * is handed out whole. Inside an array the items are passed over by json_scan and handed out in
 * runs.
 *
 *	TOP    --'['-->  ARRAY  --']'-->  TOP
 *	TOP    --'{'-->  MEMBER --name:'['-->  ARRAY  --']'-->  MEMBER  --'}'-->  TOP
 *
 * Only what is being looked at is kept in the window: from `keep` on. When a value does not end in
 * it the window is filled further and the scan goes on where it stood, so nothing is read twice.
 */
#include "source/json_stream.h"

#include <errno.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "source/input.h"
#include "source/json_scan.h"

#define READ_BYTES ((size_t)1 << 20)

enum place { AT_TOP, IN_OBJECT, IN_ARRAY };

struct json_stream {
	struct input *in;
	struct json_stream_how how;
	struct str win; /* the window; bytes are in p */
	char *p;
	size_t room;
	size_t keep, at; /* what must stay, and the cursor */
	bool ended;
	enum place place;
	bool streamed; /* this object is taken apart, so it is not handed out whole */
	bool is_cut, is_open_array;
	uint64_t nr_broken;
};

struct json_stream *json_stream_new(struct input *in, const struct json_stream_how *how)
{
	struct json_stream *s = mem_zalloc(sizeof(*s));

	s->in = in;
	s->how = *how;
	return s;
}

void json_stream_free(struct json_stream *s)
{
	if (!s)
		return;
	free(s->p);
	free(s);
}

bool json_stream_is_cut(const struct json_stream *s)
{
	return s->is_cut;
}

bool json_stream_is_open_array(const struct json_stream *s)
{
	return s->is_open_array;
}

uint64_t json_stream_nr_broken(const struct json_stream *s)
{
	return s->nr_broken;
}

/* Reads up to n bytes, fewer only at the end. */
static int fetch(struct json_stream *s, size_t n, struct error *err)
{
	size_t before = s->win.n;
	ssize_t got;

	while (!s->ended && s->win.n - before < n) {
		got = input_read(s->in, s->p + s->win.n, n - (s->win.n - before), err);
		/* A damaged end of a compressed file is an end: what was in front was delivered. */
		if (got == -EBADMSG)
			s->is_cut = true;
		else if (got < 0)
			return (int)got;
		s->ended = got <= 0;
		s->win.n += got > 0 ? (size_t)got : 0;
	}
	return s->win.n > before;
}

/*
 * More bytes at the end of the window: 1, 0 when there are none, negative on failure. It grows by
 * as much as is kept, so that what is looked at again after each step adds up to a few passes.
 */
static int more(struct json_stream *s, struct error *err)
{
	size_t n = s->win.n - s->keep, want = n > READ_BYTES ? n : READ_BYTES;

	if (s->ended)
		return 0;
	if (n >= JSON_ITEM_BYTES_MAX)
		return error_set(err, EFBIG,
				 "'%s' holds a JSON value larger than %zu MiB; write it as JSON "
				 "lines or in smaller batches",
				 input_path(s->in), JSON_ITEM_BYTES_MAX >> 20);
	if (want > JSON_ITEM_BYTES_MAX - n)
		want = JSON_ITEM_BYTES_MAX - n;
	if (s->room - s->win.n < want && s->keep) {
		memmove(s->p, s->p + s->keep, n);
		s->at -= s->keep;
		s->keep = 0;
		s->win.n = n;
	}
	if (s->room - s->win.n < want) {
		s->room = s->win.n + want;
		s->p = mem_realloc(s->p, s->room);
	}
	s->win.p = s->p;
	return fetch(s, want, err);
}

/* Moves to the next byte that is no white space: 1 and *c, 0 at the end, negative on failure. */
static int look(struct json_stream *s, char *c, struct error *err)
{
	int r;

	for (;;) {
		s->at = json_scan_space(s->win, s->at);
		if (s->at < s->win.n)
			break;
		r = more(s, err);
		if (r <= 0)
			return r;
	}
	*c = s->win.p[s->at];
	return 1;
}

/* Passes one string; the cursor moves only when all of it is there. */
static int pass_string(struct json_stream *s, struct error *err)
{
	size_t end;
	int r;

	while (!(end = json_scan_string(s->win, s->at))) {
		r = more(s, err);
		if (r <= 0)
			return r;
	}
	s->at = end;
	return 1;
}

static int pass_word(struct json_stream *s, struct error *err)
{
	size_t end;
	int r;

	while ((end = json_scan_word(s->win, s->at)) == s->win.n) {
		r = more(s, err);
		if (r < 0)
			return r;
		if (!r)
			break;
	}
	if (end == s->at)
		return -EBADMSG;
	s->at = end;
	return 1;
}

/* Passes an object or array; goes on scanning where it stood when bytes had to be fetched. */
static int pass_brackets(struct json_stream *s, struct error *err)
{
	struct json_scan scan = { 0 };
	int r;

	while (!json_scan_value(&scan, s->win, &s->at)) {
		r = more(s, err);
		if (r <= 0)
			return r;
	}
	return 1;
}

/* Passes any value: 1, 0 the input ended inside, -EBADMSG no value, other negatives failures. */
static int pass_value(struct json_stream *s, struct error *err)
{
	char c;
	int r = look(s, &c, err);

	if (r <= 0)
		return r;
	if (c == '{' || c == '[')
		return pass_brackets(s, err);
	return c == '"' ? pass_string(s, err) : pass_word(s, err);
}

/* Passes the key and its colon; tells whether it is one of the named members. */
static int pass_key(struct json_stream *s, bool *is_named, struct error *err)
{
	size_t start = s->at - s->keep; /* the window may move */
	struct str key;
	char c;
	int r = pass_string(s, err);

	if (r <= 0)
		return r;
	key = (struct str){ s->win.p + s->keep + start + 1, s->at - s->keep - start - 2 };
	*is_named = false;
	for (size_t i = 0; s->how.members[i]; i++)
		*is_named |= str_eq(key, str_of(s->how.members[i]));
	r = look(s, &c, err);
	if (r <= 0)
		return r;
	if (c != ':')
		return -EBADMSG;
	s->at++;
	return 1;
}

/* Something that is no JSON: passes to the next line, where a new document may begin. */
static int resync(struct json_stream *s, struct error *err)
{
	const char *nl;
	int r;

	s->nr_broken++;
	s->place = AT_TOP;
	for (;;) {
		nl = s->at < s->win.n ? memchr(s->win.p + s->at, '\n', s->win.n - s->at) : NULL;
		s->at = s->keep = nl ? (size_t)(nl - s->win.p) + 1 : s->win.n;
		if (nl)
			return 1;
		r = more(s, err);
		if (r <= 0)
			return r;
	}
}

static void hand_out(struct json_stream *s, struct json_run *run, size_t start, size_t end)
{
	run->text = (struct str){ s->win.p + start, end - start };
	run->is_cut = false;
}

/* The input ended inside the value that begins at keep. */
static int hand_out_rest(struct json_stream *s, struct json_run *run)
{
	hand_out(s, run, s->keep, s->win.n);
	run->is_cut = true;
	s->is_cut = true;
	s->keep = s->at = s->win.n;
	s->place = AT_TOP;
	return run->text.n > 0;
}

/* One step over a member: 1 go on, 2 the object ended, 0 the input ended, negative failure. */
static int step_member(struct json_stream *s, struct error *err)
{
	bool is_named;
	char c;
	int r;

	r = look(s, &c, err);
	if (r <= 0)
		return r;
	if (c == '}') {
		s->at++;
		return 2;
	}
	if (c == ',') {
		s->at++;
		return 1;
	}
	if (c != '"')
		return -EBADMSG;
	r = pass_key(s, &is_named, err);
	if (r > 0)
		r = look(s, &c, err);
	if (r <= 0)
		return r;
	if (!is_named || c != '[')
		return pass_value(s, err);
	s->keep = ++s->at;
	s->place = IN_ARRAY;
	s->streamed = true;
	return 1;
}

/* In an object: 1 a run, 0 go on (or the end, when the input ended), negative failure. */
static int next_in_object(struct json_stream *s, struct json_run *run, struct error *err)
{
	int r;

	do {
		if (s->streamed)
			s->keep = s->at;
		r = step_member(s, err);
	} while (r == 1 && s->place == IN_OBJECT);
	if (r == 1)
		return 0;
	if (r == -EBADMSG)
		r = resync(s, err);
	if (r < 0 || s->place == AT_TOP)
		return r < 0 ? r : 0;
	if (!r && s->streamed) {
		s->is_cut = true;
		s->place = AT_TOP;
		return 0;
	}
	if (!r)
		return hand_out_rest(s, run);
	s->place = AT_TOP;
	if (s->streamed)
		return 0;
	hand_out(s, run, s->keep, s->at);
	s->keep = s->at;
	return 1;
}

static void leave_array(struct json_stream *s)
{
	s->at++;
	s->keep = s->at;
	s->place = s->streamed ? IN_OBJECT : AT_TOP;
}

/* Where the run that is being gathered ends, counted from keep as the window may move. */
struct gathered {
	size_t end;
	bool ended; /* the input did, behind `end` */
	bool broken;
};

/* Passes items until the run is long enough, the array ends, or something is wrong. */
static int gather(struct json_stream *s, struct gathered *g, struct error *err)
{
	char c;
	int r;

	while (g->end < s->how.run_bytes) {
		r = look(s, &c, err);
		if (r < 0)
			return r;
		if (!r || c == ']')
			break;
		if (c == ',') {
			s->at++;
			if (!g->end)
				s->keep = s->at;
			continue;
		}
		if (!g->end)
			s->keep = s->at;
		r = pass_value(s, err);
		if (r < 0 && r != -EBADMSG)
			return r;
		if (r <= 0) {
			g->broken = r == -EBADMSG;
			break;
		}
		g->end = s->at - s->keep;
	}
	g->ended = s->ended && s->at >= s->win.n;
	return 0;
}

/* Gathers a run of items; the same results as next_in_object. */
static int next_in_array(struct json_stream *s, struct json_run *run, struct error *err)
{
	struct gathered g = { 0 };
	char c;
	int r;

	s->keep = s->at;
	r = gather(s, &g, err);
	if (r < 0)
		return r;
	if (g.end) {
		hand_out(s, run, s->keep, s->keep + g.end);
		/* What was begun behind the run is looked at again from its start. */
		s->at = s->keep + g.end;
		return 1;
	}
	if (g.broken) {
		r = resync(s, err);
		return r < 0 ? r : 0;
	}
	r = look(s, &c, err);
	if (r < 0)
		return r;
	if (r)
		leave_array(s);
	else if (json_scan_space(s->win, s->keep) < s->win.n)
		return hand_out_rest(s, run);
	else
		s->is_cut = s->is_open_array = true;
	return 0;
}

/* At the top: finds the next document. */
static int next_at_top(struct json_stream *s, struct error *err)
{
	char c;
	int r = look(s, &c, err);

	if (r <= 0)
		return r;
	s->keep = s->at;
	s->streamed = false;
	if (c == '{' || c == '[') {
		s->at++;
		s->place = c == '{' ? IN_OBJECT : IN_ARRAY;
	} else if (c == ',' || c == ';' || c == '\x1e' || (unsigned char)c >= 0x80) {
		s->at++; /* separators of sequences, a byte order mark */
	} else {
		r = resync(s, err);
		return r < 0 ? r : 1;
	}
	return 1;
}

int json_stream_next(struct json_stream *s, struct json_run *run, struct error *err)
{
	int r;

	for (;;) {
		if (s->place == AT_TOP) {
			r = next_at_top(s, err);
			if (r <= 0)
				return r;
			continue;
		}
		if (s->place == IN_OBJECT)
			r = next_in_object(s, run, err);
		else
			r = next_in_array(s, run, err);
		if (r)
			return r;
		if (s->is_open_array)
			return 0;
	}
}
