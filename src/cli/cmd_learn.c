/* culprit learn PROGRAM... -o MODEL: what a program says of its own log lines, kept as a model. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/time.h"
#include "cli/beside.h"
#include "cli/command.h"
#include "cli/learn_image.h"
#include "cli/learn_show.h"
#include "cli/say.h"
#include "cli/show.h"
#include "program/model_file.h"
#include "report/report.h"

static int threads_of(const struct call *call, unsigned *threads, struct error *err)
{
	const char *given = call_get(call, "threads");
	struct str s = str_of(given);
	uint64_t n;

	*threads = 0;
	if (!given)
		return 0;
	if (!str_take_uint(&s, &n) || s.n || !n || n > 64)
		return error_set(err, EINVAL, "--threads takes a number from 1 to 64, not '%s'",
				 given);
	*threads = (unsigned)n;
	return 0;
}

/* The model of the programs given, as the bytes of its file. */
static int learn_inputs(const struct call *call, struct buf *image, struct error *err)
{
	struct learn_asked asked = { .is_told = call_has(call, "progress") };
	int got = threads_of(call, &asked.threads, err);

	return got < 0 ? got
		       : learn_image((const char *const *)call->inputs, call->nr_inputs, &asked,
				     image, err);
}

/* A model is no program. */
static int check_inputs(const struct call *call, struct error *err)
{
	for (size_t i = 0; i < call->nr_inputs; i++)
		if (model_is_model(call->inputs[i]))
			return error_set(
				err, EINVAL,
				"'%s' is a model already; to see it: culprit learn --show %s",
				call->inputs[i], call->inputs[i]);
	return 0;
}

/* A name that was mistyped may be that of a jar. */
static int check_output(const char *path, struct error *err)
{
	if (!strcmp(path, "-") || access(path, F_OK) || model_is_model(path))
		return 0;
	return error_set(err, EEXIST,
			 "'%s' exists and is no model; choose another name, or remove it first",
			 path);
}

static int write_image(const char *path, const struct buf *image, struct error *err)
{
	struct beside out;
	int got = beside_open(&out, path, err);

	if (got < 0)
		return got;
	fwrite(image->p, 1, image->n, out.file);
	return beside_close(&out, 0, err);
}

/* A model, or programs that are learned on the spot; image must outlive the model. */
static int open_model(const struct call *call, struct buf *image, struct model_file **m,
		      struct error *err)
{
	int got;

	if (call->nr_inputs == 1 && model_is_model(call->inputs[0]))
		return model_open(m, call->inputs[0], err);
	for (size_t i = 0; i < call->nr_inputs; i++)
		if (model_is_model(call->inputs[i]))
			return error_set(err, EINVAL,
					 "'%s' is a model, and is shown alone: give one model, or "
					 "programs",
					 call->inputs[i]);
	got = learn_inputs(call, image, err);
	return got < 0 ? got : model_of_bytes(m, buf_str(image), err);
}

static int show_what(const struct call *call, const struct model_file *m, struct report *r)
{
	int got = 0;
	bool is_any = false;

	if (call_has(call, "method")) {
		got |= learn_show_method(m, call_get(call, "method"), r);
		is_any = true;
	}
	if (call_has(call, "points")) {
		got |= learn_show_points(m, r);
		is_any = true;
	}
	if (call_has(call, "pairs")) {
		got |= learn_show_pairs(m, r);
		is_any = true;
	}
	if (call_has(call, "table")) {
		got |= learn_show_table(m, r);
		is_any = true;
	}
	return is_any ? got : learn_show_summary(m, r);
}

static int show_report_of(const struct call *call, const struct model_file *m, struct error *err)
{
	struct report report;
	int got, shown;

	report_init(&report);
	show_begin(&report, call);
	got = show_what(call, m, &report);
	model_losses(m, &report.losses);
	shown = show_report(&report, call, err);
	report_done(&report);
	return shown < 0 ? shown : got;
}

static int show_dot(const struct call *call, const struct model_file *m, struct error *err)
{
	const char *path = call_get(call, "output");
	struct buf dot = { 0 };
	int got = learn_show_dot(m, call_get(call, "dot"), &dot, err);

	if (got >= 0)
		got = write_image(path ? path : "-", &dot, err);
	buf_done(&dot);
	return got;
}

static int show(const struct call *call, struct error *err)
{
	struct buf image = { 0 };
	struct model_file *m = NULL;
	int got = open_model(call, &image, &m, err);

	if (got >= 0)
		got = call_has(call, "dot") ? show_dot(call, m, err) : show_report_of(call, m, err);
	model_close(m);
	buf_done(&image);
	return got;
}

/* What was found and where it is kept. */
static int report_end(const struct call *call, const struct buf *image, const char *path,
		      int64_t began, struct error *err)
{
	struct model_file *m;
	struct report report;
	struct section *s;
	struct buf took = { 0 };
	int got = model_of_bytes(&m, buf_str(image), err);

	if (got < 0)
		return got;
	report_init(&report);
	learn_tell(m, &report);
	model_losses(m, &report.losses);
	time_span_text(&took, time_tick() - began);
	s = report_section(&report, SECTION_STEPS, "written", "");
	s->text_only = true;
	section_say(s, "write", "%s, %.1f MB, after " STR_FMT, path, (double)image->n / 1e6,
		    STR_ARG(buf_str(&took)))
		->command = arena_fmt(s->arena, "culprit learn --show %s", path);
	got = show_report(&report, call, err);
	buf_done(&took);
	report_done(&report);
	model_close(m);
	return got;
}

static int learn_to(const struct call *call, const char *path, struct error *err)
{
	int64_t began = time_tick();
	struct buf image = { 0 };
	int got = check_inputs(call, err);

	if (got >= 0)
		got = check_output(path, err);
	if (got >= 0)
		got = learn_inputs(call, &image, err);
	if (got >= 0)
		got = write_image(path, &image, err);
	if (got >= 0 && strcmp(path, "-"))
		got = report_end(call, &image, path, began, err);
	buf_done(&image);
	return got;
}

static bool is_show(const struct call *call)
{
	return call_has(call, "show") || call_has(call, "points") || call_has(call, "method") ||
	       call_has(call, "pairs") || call_has(call, "dot") || call_has(call, "table");
}

int cmd_learn(const struct call *call)
{
	const char *path = call_get(call, "output");
	struct error err = { 0 };
	int got = is_show(call) ? show(call, &err)
				: learn_to(call, path ? path : "program.model", &err);

	if (got >= 0)
		return got ? EXIT_NOTHING : EXIT_ANSWERED;
	say_error("%s", err.msg);
	return EXIT_CANNOT;
}
