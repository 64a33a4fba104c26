/*
 * Goes over all classes with all cores. A class is looked at only when its constants name a method
 * that could log. Messages that are a parameter of the method around the statement are looked for
 * at the callers of that method, so a helper such as log(String what) knows what it is told.
 */
#include "program/logpoints.h"

#include <stdlib.h>

#include "base/crew.h"
#include "model/loss.h"
#include "program/callers.h"
#include "program/descriptor.h"
#include "program/logger.h"

enum {
	CHUNK = 64, /* classes that one thread takes at a time */
};

struct chunk {
	VEC(struct log_point) points;
	struct arena arena;
	uint32_t nr_damaged;
};

struct search {
	const struct program *program;
	const struct callers *callers;
	struct chunk *chunks;
};

static bool names_logging(const struct class *c)
{
	struct member_ref m;

	for (uint32_t i = 1; i < c->nr_constants; i++) {
		enum constant_tag tag = class_tag(c, (uint16_t)i);

		if ((tag == CONSTANT_METHOD || tag == CONSTANT_INTERFACE_METHOD) &&
		    class_member(c, (uint16_t)i, &m) && logger_may_log(m.name))
			return true;
	}
	return false;
}

static bool is_parameter(struct where at)
{
	return where_value(where_source(at))->kind == VALUE_PARAMETER;
}

static int by_pc(const void *a, const void *b)
{
	const struct log_point *x = a, *y = b;

	return (x->pc > y->pc) - (x->pc < y->pc);
}

static void look_at_method(struct chunk *c, struct scopes *scopes, uint32_t method,
			   struct arena *scratch)
{
	size_t first = c->points.nr;
	struct scope s;
	struct log_call call;

	if (!scope_init(&s, scopes, method))
		return;
	for (uint32_t i = 1; i < s.v->nr; i++) {
		struct where at = { &s, i };
		struct wording w = { scratch, WORDING_STEPS, 0, 0 };
		struct log_point p;

		if (s.v->v[i].kind != VALUE_CALL || !logger_is_call(at, &call))
			continue;
		p = (struct log_point){ .method = method,
					.pc = s.v->v[i].pc,
					.line = code_line(s.v->method->code, s.v->v[i].pc),
					.level = call.level,
					.has_error = call.has_error,
					.is_handed = is_parameter(call.message) };
		p.text = text_keep(&c->arena, text_tidy(scratch, logger_text(&w, &call)));
		p.logger = arena_str(&c->arena, logger_name(at, scratch));
		vec_push(&c->points, p);
		arena_reset(scratch);
	}
	/* values stand in the order of evaluation, which is not that of the code */
	if (c->points.nr > first)
		qsort(c->points.v + first, c->points.nr - first, sizeof(*c->points.v), by_pc);
}

static void look_at_chunk(void *ctx, uint32_t item)
{
	struct search *s = ctx;
	const struct program *p = s->program;
	struct chunk *c = &s->chunks[item];
	struct scopes scopes;
	struct arena scratch = { 0 };
	size_t end = ((size_t)item + 1) * CHUNK;

	scopes_init(&scopes, p);
	scopes.callers = s->callers;
	for (size_t i = (size_t)item * CHUNK; i < end && i < p->classes.nr; i++) {
		const struct program_class *class = &p->classes.v[i];

		if (!names_logging(&class->c))
			continue;
		for (uint16_t k = 0; k < class->c.nr_methods; k++)
			if (class->c.methods[k].code)
				look_at_method(c, &scopes, class->first_method + k, &scratch);
		scopes_trim(&scopes);
	}
	c->nr_damaged = scopes.nr_damaged;
	scopes_done(&scopes);
	arena_done(&scratch);
}

static void gather(struct log_points *l, struct search *s, uint32_t nr_chunks,
		   struct losses *losses)
{
	for (uint32_t i = 0; i < nr_chunks; i++) {
		struct chunk *c = &s->chunks[i];

		vec_each (&c->points, p) {
			struct log_point kept = *p;

			kept.text = text_keep(&l->arena, p->text);
			kept.logger = arena_str(&l->arena, p->logger);
			vec_push(&l->v, kept);
		}
		losses->count[LOSS_METHODS_BROKEN] += c->nr_damaged;
		vec_done(&c->points);
		arena_done(&c->arena);
	}
}

static bool is_handed_text(const struct program *p, uint32_t method, const void *ctx)
{
	const struct member *m = p->methods.v[method].member;

	(void)ctx;
	return str_find(descriptor_parameters(m->type), STR("Ljava/lang/String;")) <
	       descriptor_parameters(m->type).n;
}

void log_points_find(struct log_points *l, const struct program *p, struct losses *losses)
{
	uint32_t nr_chunks = (uint32_t)((p->classes.nr + CHUNK - 1) / CHUNK);
	struct callers callers;
	struct search s = { .program = p, .callers = &callers };

	callers_init(&callers, p, is_handed_text, NULL);
	*l = (struct log_points){ 0 };
	s.chunks = mem_zalloc(mem_bytes(nr_chunks + 1U, sizeof(*s.chunks)));
	crew_run_with(p->threads, nr_chunks, look_at_chunk, &s);
	gather(l, &s, nr_chunks, losses);
	free(s.chunks);
	callers_done(&callers);
}

void log_points_done(struct log_points *l)
{
	vec_done(&l->v);
	arena_done(&l->arena);
}
