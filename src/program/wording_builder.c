/*
 * What stands in a StringBuilder: all that is appended to it on every way from where it was made to
 * where it is used, in the order of the code. What is appended under a branch or in a loop may be
 * there or not, once or often: it becomes something that may be anything. A builder handed to a
 * method of the program is followed into it.
 */
#include "program/descriptor.h"
#include "program/dominance.h"
#include "program/insn.h"
#include "program/wording.h"

bool wording_is_builder(struct str class)
{
	return str_eq(class, STR("java/lang/StringBuilder")) ||
	       str_eq(class, STR("java/lang/StringBuffer")) ||
	       str_eq(class, STR("scala/collection/mutable/StringBuilder")) ||
	       str_eq(class, STR("scala/StringBuilder"));
}

/* The builder that calls are chained on: what append() was called on, and so on. */
static uint32_t root_of(const struct values *v, uint32_t value)
{
	struct member_ref m;

	for (unsigned i = 0; i < 4096; i++) {
		const struct value *at = &v->v[value];

		if (at->kind == VALUE_CAST) {
			value = v->args[at->first];
		} else if (at->kind == VALUE_CALL && at->nr && at->op != OP_INVOKESTATIC &&
			   at->op != OP_INVOKEDYNAMIC && class_member(v->class, at->constant, &m) &&
			   wording_is_builder(m.owner) && !str_eq(m.name, STR("toString"))) {
			value = v->args[at->first];
		} else if (at->kind == VALUE_PHI && at->nr) {
			uint32_t root = 0;

			for (uint32_t k = 0; k < at->nr; k++) {
				uint32_t arg = v->args[at->first + k];

				/* one step is enough for what compilers write */
				while (v->v[arg].kind == VALUE_CALL && v->v[arg].nr &&
				       class_member(v->class, v->v[arg].constant, &m) &&
				       wording_is_builder(m.owner))
					arg = v->args[v->v[arg].first];
				if (arg == value)
					continue;
				if (root && root != arg)
					return value;
				root = arg;
			}
			if (!root || v->v[root].kind == VALUE_PHI)
				return value;
			value = root;
		} else {
			return value;
		}
	}
	return value;
}

struct builder {
	struct wording *w;
	const struct scope *scope;
	struct dominance dominance;
	uint32_t root, use_block;
	unsigned depth;
	struct text text;
};

/* Whether every way to the use passes here exactly once. */
static bool is_certain(const struct builder *b, const struct value *v)
{
	uint32_t made = b->scope->v->v[b->root].block;

	return dominance_holds(&b->dominance, v->block, b->use_block) &&
	       (v->block == made || !flow_returns(&b->scope->v->flow, v->block, made));
}

static void add(struct builder *b, struct text t)
{
	b->text = text_join(b->w->arena, b->text, t);
}

/* A call on the builder itself. */
static void take_own(struct builder *b, uint32_t call, const struct member_ref *m)
{
	struct where at = { b->scope, call };
	const struct value *v = where_value(at);
	struct str types = descriptor_parameters(m->type), type = STR("");
	bool is_certain_here = is_certain(b, v);

	descriptor_take(&types, &type);
	if (str_eq(m->name, STR("append")) || str_eq(m->name, STR("$plus$plus$eq")) ||
	    str_eq(m->name, STR("<init>"))) {
		if (v->nr < 2 || (str_eq(m->name, STR("<init>")) && type.p[0] == 'I'))
			return;
		if (!is_certain_here || v->nr > 2 || type.p[0] == '[')
			add(b, text_any(b->w->arena, STR("")));
		else
			add(b, wording_part(b->w, where_arg(at, 1), type, b->depth));
	} else if (str_eq(m->name, STR("setLength")) && is_certain_here &&
		   where_value(where_arg(at, 1))->kind == VALUE_NUMBER &&
		   !where_value(where_arg(at, 1))->number) {
		b->text = text_empty(b->w->arena);
	} else if (str_eq(m->name, STR("insert")) || str_eq(m->name, STR("reverse")) ||
		   str_starts(m->name, STR("replace")) || str_eq(m->name, STR("setCharAt"))) {
		b->text = text_any(b->w->arena, STR(""));
	}
}

/* The builder is an argument of some other call, which may append to it. */
static void take_helper(struct builder *b, uint32_t call, uint32_t arg)
{
	struct where at = { b->scope, call };
	uint32_t callee = where_callee(at), parameter = 0;
	const struct scope *inside = NULL;

	if (callee != NO_METHOD && b->depth < 4 && is_certain(b, where_value(at)))
		inside = scope_enter(b->scope, call, callee, b->w->arena);
	for (uint32_t i = 1; inside && i < inside->v->nr && !parameter; i++)
		if (inside->v->v[i].kind == VALUE_PARAMETER && inside->v->v[i].number == arg)
			parameter = i;
	if (parameter)
		add(b, wording_builder(b->w, (struct where){ inside, parameter }, UINT32_MAX,
				       b->depth + 1));
	else
		add(b, text_any(b->w->arena, STR("")));
}

static void take(struct builder *b, uint32_t call)
{
	const struct values *v = b->scope->v;
	const struct value *at = &v->v[call];
	struct member_ref m;

	if (!class_member(v->class, at->constant, &m))
		return;
	if (at->op != OP_INVOKESTATIC && at->op != OP_INVOKEDYNAMIC && at->nr &&
	    wording_is_builder(m.owner) && root_of(v, v->args[at->first]) == b->root) {
		take_own(b, call, &m);
		return;
	}
	for (uint32_t i = 0; i < at->nr; i++) {
		if (root_of(v, v->args[at->first + i]) == b->root &&
		    v->v[v->args[at->first + i]].kind != VALUE_PHI) {
			take_helper(b, call, i);
			return;
		}
	}
}

/* The block of the only return; the last one of several. */
static uint32_t end_block(const struct values *v)
{
	uint32_t block = 0;

	for (uint32_t i = 1; i < v->nr; i++)
		if (v->v[i].kind == VALUE_RETURN)
			block = v->v[i].block;
	return block;
}

struct text wording_builder(struct wording *w, struct where at, uint32_t use, unsigned depth)
{
	const struct values *v = at.scope->v;
	struct builder b = { .w = w,
			     .scope = at.scope,
			     .depth = depth,
			     .root = root_of(v, at.value),
			     .text = text_empty(w->arena) };
	bool is_made_here = v->v[b.root].kind == VALUE_NEW;
	bool is_whole = use == UINT32_MAX;

	/* begun elsewhere, in a way that we do not see */
	if (!is_made_here && !(is_whole && v->v[b.root].kind == VALUE_PARAMETER))
		b.text = text_any(w->arena, STR(""));
	dominance_init(&b.dominance, &v->flow, w->arena);
	b.use_block = is_whole ? end_block(v) : v->v[use].block;
	for (uint32_t i = 1; i < v->nr && w->steps; i++) {
		if (v->v[i].kind != VALUE_CALL || i == use)
			continue;
		if (!is_whole && v->v[i].block == b.use_block && i > use)
			break;
		if (!is_whole && v->v[i].pc >= v->v[use].pc)
			continue;
		take(&b, i);
	}
	return b.text;
}
