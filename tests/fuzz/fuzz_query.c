/* Queries as they are typed: planned within the bounds, or explained with a place. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/error.h"
#include "query/parse.h"
#include "query/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct arena arena = { 0 };
	struct advices a = { 0 };
	struct error err = { 0 };
	struct queries q;
	struct plan p;

	if (query_parse(text, &arena, &q, &err) < 0 ||
	    query_plan(&p, &q, REWRITE_ALL, &arena, &err) < 0) {
		must(err.msg[0]);
	} else {
		must(p.stages.nr && p.stages.nr <= STAGES_MAX && p.variables.nr <= VARIABLES_MAX);
		plan_explain(&p, &arena, &a);
		must(a.v.nr == p.stages.nr);
		advices_done(&a);
		query_plan_done(&p);
	}
	arena_done(&arena);
	return 0;
}
