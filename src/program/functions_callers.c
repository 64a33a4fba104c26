/* Bytes that may be a call of the function, found as in functions_called.c, and then looked at
 * closely: the function that holds them does call it. */
#include "base/error.h"
#include "program/functions.h"
#include "program/functions_image.h"

struct search {
	struct functions *f;
	uint32_t wanted;
	uint32_t *out;
	size_t nr, max;
};

static bool is_known(const struct search *s, uint32_t function)
{
	for (size_t i = 0; i < s->nr; i++)
		if (s->out[i] == function)
			return true;
	return false;
}

static void try_function(struct search *s, uint32_t function)
{
	struct error ignored = { 0 };
	struct callees c;

	if (function == UINT32_MAX || function == s->wanted || s->nr == s->max ||
	    is_known(s, function) || functions_callees(s->f, function, &c, &ignored) < 0)
		return;
	for (size_t i = 0; i < c.nr; i++)
		if (c.v[i] == s->wanted) {
			s->out[s->nr++] = function;
			return;
		}
}

static void read_code(struct search *s, uint32_t module, const struct segment *code)
{
	const uint8_t *p = (const uint8_t *)code->bytes.p;
	uint64_t target = s->f->v.v[s->wanted].address;

	for (size_t i = 0; i + 5 <= code->bytes.n; i++) {
		int32_t offset;

		if (p[i] != 0xe8 && p[i] != 0xe9)
			continue;
		memcpy(&offset, p + i + 1, sizeof(offset));
		if (code->address + i + 5 + (uint64_t)(int64_t)offset == target)
			try_function(s, functions_at(s->f, module, code->address + i));
	}
}

size_t functions_callers(struct functions *f, uint32_t function, uint32_t *out, size_t max)
{
	struct search s = { .f = f, .wanted = function, .out = out, .max = max };
	uint32_t module = f->v.v[function].module;
	const struct function_image *image = f->modules.v[module].image;

	vec_each (&image->elf.segments, code)
		if (code->type == SEGMENT_LOAD && code->flags & SEGMENT_RUN)
			read_code(&s, module, code);
	return s.nr;
}
