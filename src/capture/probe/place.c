#include "capture/probe/place.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "program/functions.h"
#include "program/usdt.h"

#define LOADS_MAX 4

/* What is in memory is one more load. */
static int argument_take(struct probe_take *out, const struct usdt_argument *a,
			 const struct probe_take *take)
{
	*out = *take;
	out->from = TAKE_REGISTER;
	out->argument = a->base;
	if (!take->nr_loads && a->bytes < (take->bytes ? take->bytes : 8))
		out->bytes = a->bytes;
	if (a->where == USDT_REGISTER)
		return a->base < 16 && !a->is_high ? 0 : -ENOTSUP;
	if (a->where != USDT_MEMORY || a->base >= 16 || a->index != USDT_NO_REGISTER ||
	    a->offset != (int32_t)a->offset || take->nr_loads >= LOADS_MAX)
		return -ENOTSUP;
	/* loads on the way take eight bytes each */
	if (take->nr_loads && a->bytes != 8)
		return -ENOTSUP;
	memmove(out->offsets + 1, take->offsets, (LOADS_MAX - 1) * sizeof(*out->offsets));
	out->offsets[0] = (int32_t)a->offset;
	out->nr_loads++;
	return 0;
}

int place_of_usdt(struct probe_function *out, struct functions *f, const struct usdt *u,
		  const struct probe_take *take, struct error *err)
{
	uint32_t in = functions_at(f, u->module, u->address);
	struct probe_function p = { .is_site = true,
				    .site = u->address,
				    .semaphore = u->semaphore,
				    .is_mark_at_entry = true };

	if (in == UINT32_MAX)
		return error_set(err, ENOTSUP,
				 "the static probe '" STR_FMT "' is in no function that is known",
				 STR_ARG(u->name));
	if (take->from != TAKE_NOTHING &&
	    (take->argument >= u->nr_arguments ||
	     argument_take(&p.at_entry, &u->arguments[take->argument], take) < 0))
		return error_set(err, ENOTSUP,
				 "argument %u of the static probe '" STR_FMT
				 "' cannot be read (it has %u)",
				 take->argument, STR_ARG(u->name), u->nr_arguments);
	p.address = f->v.v[in].address;
	p.size = f->v.v[in].size;
	p.module = arena_z(&f->arena, f->modules.v[u->module].path);
	*out = p;
	return 0;
}
