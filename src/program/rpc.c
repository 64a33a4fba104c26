/*
 * By shape, in three forms. A protocol compiler makes interfaces whose methods take a controller
 * and a message: who calls one from outside of the generated code asks, who implements one answers,
 * and name and kind of message tie both; who does both for one name is a proxy. A translator
 * implements an interface of the program by asking a service of the same name. And a proxy made
 * from a class and an address, then cast to an interface, makes this interface a remote one.
 */
#include "program/rpc.h"

#include <stdlib.h>

#include "base/crew.h"
#include "program/descriptor.h"
#include "program/insn.h"

enum { CHUNK = 256 };

struct search {
	struct rpc *rpc;
	const struct program *program;
};

bool rpc_is_service(struct str type)
{
	struct str rest = descriptor_parameters(type), first, second;

	return str_find(type, STR("/RpcController;")) < type.n && descriptor_take(&rest, &first) &&
	       str_ends(first, STR("/RpcController;")) && descriptor_take(&rest, &second) &&
	       second.n && second.p[0] == 'L';
}

static struct str message_of(struct str type)
{
	struct str rest = descriptor_parameters(type), first, second = STR("");

	descriptor_take(&rest, &first);
	descriptor_take(&rest, &second);
	return second;
}

static struct str outermost(struct str class)
{
	return str_head(class, str_find_char(class, '$'));
}

/* Services are declared within a class of generated code; so is all else there. */
static void find_generated(struct rpc *r)
{
	const struct program *p = r->program;
	bool *marked = mem_zalloc(p->names.nr + 1U);

	for (size_t i = 0; i < p->classes.nr; i++) {
		const struct class *c = &p->classes.v[i].c;

		if (str_find_char(c->name, '$') == c->name.n)
			continue;
		for (uint16_t k = 0; k < c->nr_methods; k++)
			if (!c->methods[k].code && rpc_is_service(c->methods[k].type)) {
				marked[names_find(&p->names, outermost(c->name))] = true;
				break;
			}
	}
	marked[0] = false;
	for (size_t i = 0; i < p->classes.nr; i++)
		r->is_generated[i] =
			marked[names_find(&p->names, outermost(p->classes.v[i].c.name))];
	free(marked);
}

static int by_key(const void *a, const void *b)
{
	const struct rpc_answer *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->message != y->message)
		return x->message < y->message ? -1 : 1;
	return (x->method > y->method) - (x->method < y->method);
}

static void find_answers(struct rpc *r)
{
	const struct program *p = r->program;

	for (uint32_t m = 0; m < p->methods.nr; m++) {
		const struct program_method *method = &p->methods.v[m];

		if (r->is_generated[method->class] || !method->member->code || r->asks[m] ||
		    method->member->access & (ACCESS_BRIDGE | ACCESS_STATIC) ||
		    !rpc_is_service(method->member->type))
			continue;
		r->is_server[method->class] = true;
		vec_push(&r->answers,
			 (struct rpc_answer){
				 method->name,
				 names_find(&p->names, message_of(method->member->type)), m });
	}
	/* a message whose name was never seen as a type of its own is told by its descriptor */
	vec_each (&r->answers, a)
		if (!a->message)
			a->message = p->methods.v[a->method].type;
	if (r->answers.nr)
		qsort(r->answers.v, r->answers.nr, sizeof(*r->answers.v), by_key);
}

uint32_t rpc_answers(const struct rpc *r, const struct member_ref *m,
		     const struct rpc_answer **first)
{
	const struct program *p = r->program;
	sym_t name = names_find(&p->names, m->name);
	struct str message = message_of(m->type);
	size_t low = 0, high = r->answers.nr;
	uint32_t nr = 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->answers.v[mid].name < name)
			low = mid + 1;
		else
			high = mid;
	}
	*first = NULL;
	for (; low < r->answers.nr && r->answers.v[low].name == name; low++) {
		const struct member *answer = p->methods.v[r->answers.v[low].method].member;

		if (!str_eq(message_of(answer->type), message)) {
			if (nr)
				break;
			continue;
		}
		if (!nr++)
			*first = &r->answers.v[low];
	}
	return nr;
}

/* m, or a lambda within it: lambda$m$3. */
static bool is_within(struct str method, struct str name)
{
	if (str_eq(method, name))
		return true;
	return str_take(&method, STR("lambda$")) && str_take(&method, name) &&
	       str_take_char(&method, '$');
}

static void mark_asking(struct rpc *r, const struct program_class *c, struct str name)
{
	for (uint16_t k = 0; k < c->c.nr_methods; k++)
		if (str_eq(c->c.methods[k].name, name))
			r->asks[c->first_method + k] = true;
}

/* ( … Class … InetSocketAddress … ): gives something that speaks with that address. */
static bool makes_proxies(struct str type)
{
	return str_find(type, STR("Ljava/net/InetSocketAddress;")) < type.n &&
	       str_find(type, STR("Ljava/lang/Class;")) < type.n && descriptor_result(type).n &&
	       descriptor_result(type).p[0] == 'L';
}

static void look_at_code(struct rpc *r, const struct program_class *c, const struct member *m)
{
	const struct program *p = r->program;
	bool is_proxy = false;
	struct insn i;

	for (uint32_t pc = 0; pc < m->code->bytes.n; pc = i.next) {
		struct member_ref ref;
		uint32_t remote;

		if (!insn_read(m->code->bytes, pc, &i))
			return;
		if (i.op == OP_CHECKCAST && is_proxy) {
			remote = program_class(p, class_named(&c->c, (uint16_t)i.operand));
			if (remote != NO_CLASS && p->classes.v[remote].c.access & ACCESS_INTERFACE)
				__atomic_store_n(&r->is_remote[remote], true, __ATOMIC_RELAXED);
		}
		is_proxy = false;
		if (i.op < OP_INVOKEVIRTUAL || i.op > OP_INVOKEINTERFACE ||
		    !class_member(&c->c, (uint16_t)i.operand, &ref))
			continue;
		if (rpc_is_service(ref.type) && is_within(m->name, ref.name) &&
		    !str_eq(ref.owner, c->c.name) && i.op != OP_INVOKESPECIAL)
			mark_asking(r, c, ref.name);
		is_proxy = makes_proxies(ref.type);
	}
}

static bool is_worth_it(const struct class *c)
{
	struct member_ref m;

	for (uint32_t i = 1; i < c->nr_constants; i++) {
		enum constant_tag tag = class_tag(c, (uint16_t)i);

		if ((tag == CONSTANT_METHOD || tag == CONSTANT_INTERFACE_METHOD) &&
		    class_member(c, (uint16_t)i, &m) &&
		    (rpc_is_service(m.type) || makes_proxies(m.type)))
			return true;
	}
	return false;
}

static void look_at_chunk(void *ctx, uint32_t item)
{
	struct search *s = ctx;
	size_t end = ((size_t)item + 1) * CHUNK;

	for (size_t i = (size_t)item * CHUNK; i < end && i < s->program->classes.nr; i++) {
		const struct program_class *c = &s->program->classes.v[i];

		if (s->rpc->is_generated[i] || !is_worth_it(&c->c))
			continue;
		for (uint16_t k = 0; k < c->c.nr_methods; k++)
			if (c->c.methods[k].code)
				look_at_code(s->rpc, c, &c->c.methods[k]);
	}
}

uint32_t rpc_choose(const struct rpc *r, uint32_t caller_class, uint32_t *targets, uint32_t nr)
{
	bool wants_proxy = !r->is_server[caller_class];
	uint32_t kept = 0, nr_proxies = 0;

	for (uint32_t i = 0; i < nr; i++)
		nr_proxies += r->asks[targets[i]];
	if (!nr_proxies || nr_proxies == nr)
		return nr;
	for (uint32_t i = 0; i < nr; i++)
		if (r->asks[targets[i]] == wants_proxy)
			targets[kept++] = targets[i];
	return kept;
}

void rpc_init(struct rpc *r, const struct program *p)
{
	struct search s = { r, p };

	*r = (struct rpc){ .program = p,
			   .is_generated = mem_zalloc(p->classes.nr + 1),
			   .is_server = mem_zalloc(p->classes.nr + 1),
			   .is_remote = mem_zalloc(p->classes.nr + 1),
			   .asks = mem_zalloc(p->methods.nr + 1) };
	find_generated(r);
	crew_run_with(p->threads, (uint32_t)((p->classes.nr + CHUNK - 1) / CHUNK), look_at_chunk,
		      &s);
	find_answers(r);
}

void rpc_done(struct rpc *r)
{
	free(r->is_generated);
	free(r->is_server);
	free(r->is_remote);
	free(r->asks);
	vec_done(&r->answers);
}
