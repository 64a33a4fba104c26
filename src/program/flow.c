#include "program/flow.h"

#include <stdlib.h>

#include "base/vec.h"
#include "program/insn.h"

enum mark { IS_INSN = 1, IS_LEADER = 2 };

/* No compiler writes more; made-up code may ask for the square of its length. */
#define EDGES_MAX ((size_t)1 << 20)
#define GUARD_CHECKS_MAX ((uint64_t)1 << 26)

struct build {
	const struct code *code;
	struct flow *flow;
	struct arena *arena;
	uint8_t *marks;        /* by pc */
	VEC(uint32_t) returns; /* where subroutines come back to: behind each JSR */
	VEC(uint32_t) edges;
	uint32_t *last; /* by block: 1 + the block that an edge was last drawn from to it */
};

static void mark_targets(struct build *b, const struct insn *i)
{
	uint32_t to;

	if (insn_is_branch(i) || insn_is_switch(i))
		b->marks[i->operand] |= IS_LEADER;
	for (uint32_t n = 0; n < i->nr_targets; n++)
		if (insn_target(b->code->bytes, i, n, &to))
			b->marks[to] |= IS_LEADER;
}

/* Finds where blocks begin; false when an instruction cannot be read or a target is inside one. */
static bool mark(struct build *b)
{
	struct str bytes = b->code->bytes;
	struct insn i;

	b->marks[0] |= IS_LEADER;
	for (uint32_t pc = 0; pc < bytes.n; pc = i.next) {
		if (!insn_read(bytes, pc, &i))
			return false;
		b->marks[pc] |= IS_INSN;
		mark_targets(b, &i);
		if ((i.op == OP_JSR || i.op == OP_JSR_W) && i.next < bytes.n)
			vec_push(&b->returns, i.next);
		if ((!insn_goes_on(&i) || insn_is_branch(&i)) && i.next < bytes.n)
			b->marks[i.next] |= IS_LEADER;
	}
	for (uint16_t g = 0; g < b->code->nr_guards; g++) {
		const struct guard *guard = &b->code->guards[g];

		if (guard->from >= guard->to || guard->to > bytes.n || guard->handler >= bytes.n)
			return false;
		b->marks[guard->from] |= IS_LEADER;
		b->marks[guard->handler] |= IS_LEADER;
		if (guard->to < bytes.n)
			b->marks[guard->to] |= IS_LEADER;
	}
	for (size_t pc = 0; pc < bytes.n; pc++)
		if (b->marks[pc] == IS_LEADER)
			return false;
	return true;
}

static void cut_blocks(struct build *b)
{
	struct flow *f = b->flow;
	uint32_t length = (uint32_t)b->code->bytes.n, nr = 0;

	for (uint32_t pc = 0; pc < length; pc++)
		f->nr += (b->marks[pc] & IS_LEADER) != 0;
	f->blocks = arena_array(b->arena, struct block, f->nr);
	for (uint32_t pc = 0; pc < length; pc++)
		if (b->marks[pc] & IS_LEADER)
			f->blocks[nr++] = (struct block){ .from = pc, .order = NO_BLOCK };
	for (uint32_t i = 0; i < f->nr; i++)
		f->blocks[i].to = i + 1 < f->nr ? f->blocks[i + 1].from : length;
}

uint32_t flow_block(const struct flow *f, uint32_t pc)
{
	uint32_t low = 0, high = f->nr;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (f->blocks[mid].from == pc)
			return mid;
		if (f->blocks[mid].from < pc)
			low = mid + 1;
		else
			high = mid;
	}
	return NO_BLOCK;
}

static void go(struct build *b, struct block *from, uint32_t pc)
{
	uint32_t to = flow_block(b->flow, pc), number = (uint32_t)(from - b->flow->blocks);

	if (b->last[to] == number + 1)
		return;
	b->last[to] = number + 1;
	vec_push(&b->edges, to);
	from->nr_next++;
}

static bool last_insn(const struct build *b, const struct block *at, struct insn *i)
{
	for (uint32_t pc = at->from; pc < at->to; pc = i->next)
		if (!insn_read(b->code->bytes, pc, i))
			return false;
	return true;
}

static void go_from(struct build *b, struct block *at)
{
	struct insn i;
	uint32_t to;

	at->first_next = (uint32_t)b->edges.nr;
	if (!last_insn(b, at, &i))
		return;
	if (insn_is_branch(&i) || insn_is_switch(&i))
		go(b, at, i.operand);
	for (uint32_t n = 0; n < i.nr_targets; n++)
		if (insn_target(b->code->bytes, &i, n, &to))
			go(b, at, to);
	if (i.op == OP_RET)
		vec_each (&b->returns, pc)
			go(b, at, *pc);
	if (insn_goes_on(&i) && at->to < b->code->bytes.n)
		go(b, at, at->to);
}

static void go_to_handlers(struct build *b, struct block *at)
{
	uint32_t first = (uint32_t)b->edges.nr;

	for (uint16_t g = 0; g < b->code->nr_guards; g++) {
		const struct guard *guard = &b->code->guards[g];
		uint32_t handler = flow_block(b->flow, guard->handler);
		bool is_there = false;

		if (at->from < guard->from || at->from >= guard->to)
			continue;
		b->flow->blocks[handler].guard = g + 1U;
		for (uint32_t i = first; i < b->edges.nr; i++)
			is_there |= b->edges.v[i] == handler;
		if (is_there)
			continue;
		vec_push(&b->edges, handler);
		at->nr_handlers++;
	}
}

/* False when there are more edges than code that makes sense could have. */
static bool connect(struct build *b)
{
	struct flow *f = b->flow;

	if ((uint64_t)f->nr * b->code->nr_guards > GUARD_CHECKS_MAX)
		return false;
	b->last = mem_zalloc(mem_bytes(f->nr + 1U, sizeof(*b->last)));
	for (uint32_t i = 0; i < f->nr && b->edges.nr <= EDGES_MAX; i++) {
		go_from(b, &f->blocks[i]);
		go_to_handlers(b, &f->blocks[i]);
	}
	f->edges = arena_array(b->arena, uint32_t, b->edges.nr + 1);
	if (b->edges.nr)
		memcpy(f->edges, b->edges.v, b->edges.nr * sizeof(*f->edges));
	return b->edges.nr <= EDGES_MAX;
}

/* Depth first without recursion: a block is done after all that it leads to. */
static void walk(struct build *b)
{
	struct flow *f = b->flow;
	uint32_t *stack = mem_alloc(mem_bytes(f->nr + 1, sizeof(*stack)));
	uint32_t *at = mem_zalloc(mem_bytes(f->nr + 1, sizeof(*at)));
	bool *seen = mem_zalloc(f->nr + 1);
	uint32_t depth = 0, last = f->nr;

	f->walk = arena_array(b->arena, uint32_t, f->nr + 1);
	stack[depth++] = 0;
	seen[0] = true;
	while (depth) {
		const struct block *top = &f->blocks[stack[depth - 1]];
		uint32_t *next = &at[stack[depth - 1]];

		if (*next < top->nr_next + top->nr_handlers) {
			uint32_t to = f->edges[top->first_next + (*next)++];

			if (!seen[to]) {
				seen[to] = true;
				stack[depth++] = to;
			}
			continue;
		}
		f->walk[--last] = stack[--depth];
	}
	f->nr_walk = f->nr - last;
	memmove(f->walk, f->walk + last, f->nr_walk * sizeof(*f->walk));
	for (uint32_t i = 0; i < f->nr_walk; i++)
		f->blocks[f->walk[i]].order = i;
	free(stack);
	free(at);
	free(seen);
}

/* Who leads to each reached block. */
static void look_back(struct build *b)
{
	struct flow *f = b->flow;
	uint32_t total = 0;

	for (uint32_t k = 0; k < f->nr_walk; k++) {
		const struct block *from = &f->blocks[f->walk[k]];

		for (uint32_t e = 0; e < from->nr_next + from->nr_handlers; e++)
			f->blocks[f->edges[from->first_next + e]].nr_before++;
	}
	for (uint32_t i = 0; i < f->nr; i++) {
		f->blocks[i].first_before = total;
		total += f->blocks[i].nr_before;
		f->blocks[i].nr_before = 0;
	}
	f->before = arena_array(b->arena, struct edge_in, total + 1);
	for (uint32_t k = 0; k < f->nr_walk; k++) {
		const struct block *from = &f->blocks[f->walk[k]];

		for (uint32_t e = 0; e < from->nr_next + from->nr_handlers; e++) {
			struct block *to = &f->blocks[f->edges[from->first_next + e]];

			f->before[to->first_before + to->nr_before++] =
				(struct edge_in){ f->walk[k], e >= from->nr_next };
		}
	}
}

bool flow_init(struct flow *f, const struct code *code, struct arena *a)
{
	struct build b = { .code = code, .flow = f, .arena = a };
	bool is_good;

	*f = (struct flow){ 0 };
	b.marks = mem_zalloc(code->bytes.n + 1);
	is_good = code->bytes.n && mark(&b);
	if (is_good) {
		cut_blocks(&b);
		is_good = connect(&b);
	}
	if (is_good) {
		walk(&b);
		look_back(&b);
	}
	free(b.marks);
	free(b.last);
	vec_done(&b.returns);
	vec_done(&b.edges);
	return is_good;
}
