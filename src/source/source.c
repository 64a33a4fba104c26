#include "source/source.h"

#include <errno.h>

#include "base/error.h"
#include "model/sink.h"
#include "source/formats.h"
#include "source/input.h"

/* Where two are equally sure the first wins; what is text of any kind comes last. */
const struct source *const sources[] = {
	&source_capture,
	&source_otlp_json,
	&source_otlp_protobuf,
	&source_jaeger,
	&source_zipkin,
	&source_chrome,
	&source_messages,
	&source_dag,
	&source_logs,
	&source_text,
	NULL,
};

#define SURE_ENOUGH \
	80 /* nobody else is asked: learning a log layout from a trace is slow and idle */

const struct source *source_find(struct input *in)
{
	const struct source *best = NULL;
	bool whole;
	struct str head = input_head(in, &whole);
	int most = 0;

	for (const struct source *const *s = sources; *s && most < SURE_ENOUGH; s++) {
		int sure = head.n ? (*s)->sniff(head, whole) : 0;

		if (sure > most) {
			most = sure;
			best = *s;
		}
	}
	return best;
}

/* Archives hold many files under headers of their own: read as one log they would be a jumble. */
static bool is_archive(struct str head)
{
	return str_eq(str_head(str_skip(head, 257), 5), STR("ustar")) ||
	       str_starts(head, STR("PK\3\4"));
}

static bool is_packed(struct str head)
{
	return str_starts(head, STR("\x1f\x8b\x08")) ||
	       str_starts(head, STR("\xfd"
				    "7zXZ")) ||
	       str_starts(head, STR("\x28\xb5\x2f\xfd"));
}

static bool is_blank(struct str head)
{
	return !str_trim(head).n;
}

/* What is in the way of reading it, as the end of a sentence. */
static const char *reason(struct str head)
{
	if (is_archive(head))
		return "an archive: unpack it first";
	if (is_packed(head))
		return "compressed twice: unpack it once first";
	if (is_blank(head))
		return "blank";
	if (memchr(head.p, 0, head.n))
		return "no trace, and no log: it holds zero bytes, as text never does";
	return "no trace, and no log: none of its lines shows a time (--layout PATTERN tells how "
	       "they look)";
}

/* A pattern that the user gives makes a log of any text; other text without times counts only where
 * it was found beside something. */
static const struct source *find(struct input *in, const struct source_options *o)
{
	struct str head = input_head(in, NULL);
	const struct source *found = is_archive(head) || is_blank(head) ? NULL : source_find(in);

	if (found && found != &source_text)
		return found;
	if (o->layout && head.n && !memchr(head.p, 0, head.n))
		return &source_logs;
	return o->keeps_text ? found : NULL;
}

bool source_is_log(struct input *in, const struct source_options *o)
{
	return find(in, o) == &source_logs;
}

static int pass_over(struct sink *sink, enum loss why, uint64_t bytes)
{
	sink->losses->count[why]++;
	if (sink->progress && bytes)
		sink->progress(sink->to, bytes);
	return 0;
}

/* Nothing comes out of it: it is empty, or damaged from its first byte on. */
static int pass_over_empty(struct input *in, struct sink *sink, struct error *err)
{
	char byte;

	if (input_read(in, &byte, 1, err) < 0) {
		error_prefix(err, "'%s'", input_path(in));
		return pass_over(sink, LOSS_FILES_UNREADABLE, input_bytes(in));
	}
	error_set(err, ENODATA, "'%s' is empty", input_path(in));
	return pass_over(sink, LOSS_FILES_EMPTY, input_bytes(in));
}

static int is_no_log(struct input *in, struct error *err)
{
	error_set(err, ENOTSUP, "'%s' is %s", input_path(in), reason(input_head(in, NULL)));
	return 0;
}

/* Closes the input. */
static int read_input(struct input *in, const struct source_options *o, struct sink *sink,
		      struct error *err)
{
	const struct source *source = find(in, o);
	const char *path = input_path(in);
	int r;

	if (!input_head(in, NULL).n) {
		r = pass_over_empty(in, sink, err);
	} else if (!source) {
		is_no_log(in, err);
		r = pass_over(sink, LOSS_FILES_UNKNOWN, input_bytes(in));
	} else {
		r = source->read(in, o, sink, err);
		if (r < 0 && !strstr(err->msg, path))
			error_prefix(err, "'%s'", path);
		else if (r >= 0)
			r = source == &source_text ? is_no_log(in, err) : 1;
	}
	input_close(in);
	return r;
}

int source_read(const char *path, const struct source_options *o, struct sink *sink,
		struct error *err)
{
	struct input *in;

	if (input_open(&in, path, err) < 0)
		return pass_over(sink, LOSS_FILES_UNREADABLE, 0);
	return read_input(in, o, sink, err);
}

int source_read_open(int fd, const char *path, uint64_t upto, const struct source_options *o,
		     struct sink *sink, struct error *err)
{
	struct input *in;

	if (input_of_fd(&in, path, fd, upto, err) < 0)
		return pass_over(sink, LOSS_FILES_UNREADABLE, 0);
	return read_input(in, o, sink, err);
}
