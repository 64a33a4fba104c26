/* Static probes that tell an interval. A nop that can be patched costs as much as a function that
 * is; where one cannot, the kernel stops the thread there. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "capture/probe/spec.h"
#include "capture/statics.h"
#include "cli/variance_session.h"
#include "program/usdt.h"

#define SITES_MAX 64

/* Where the value stands at this place. False where code of ours cannot read it. */
static bool take_at(const struct usdt *u, const struct probe_take *want, struct probe_take *take)
{
	const struct usdt_argument *a = &u->arguments[want->argument];

	*take = (struct probe_take){ 0 };
	if (want->from == TAKE_NOTHING)
		return true;
	if (want->argument >= u->nr_arguments || a->is_high)
		return false;
	*take = *want;
	take->from = TAKE_REGISTER;
	take->argument = a->base;
	if (!take->nr_loads)
		take->bytes = a->bytes;
	if (a->where == USDT_REGISTER)
		return a->base < USDT_RIP;
	if (a->where != USDT_MEMORY || a->index != USDT_NO_REGISTER || a->base >= USDT_RIP ||
	    want->nr_loads == 4 || a->offset != (int32_t)a->offset)
		return false;
	memmove(take->offsets + 1, want->offsets, sizeof(*take->offsets) * want->nr_loads);
	take->offsets[0] = (int32_t)a->offset;
	take->nr_loads++;
	return true;
}

static bool site_of(struct session *s, const struct usdt *u, const struct interval_spec *spec,
		    struct probe_function *how)
{
	struct functions *f = &s->functions;
	uint32_t function = functions_at(f, u->module, u->address);

	if (function == UINT32_MAX)
		return false;
	*how = (struct probe_function){
		.module = arena_z(&f->arena, f->modules.v[u->module].path),
		.address = f->v.v[function].address,
		.size = f->v.v[function].size,
		.is_site = true,
		.site = u->address,
		.semaphore = u->semaphore,
		.is_mark_at_entry = true,
	};
	return take_at(u, &spec->take, &how->at_entry);
}

/* All places of the probe, or none. */
static bool patch(struct session *s, const struct usdts *probes, const uint32_t *found, size_t nr,
		  const struct interval_spec *spec, enum interval_role role)
{
	struct probe_function how[SITES_MAX] = { 0 };
	struct probe_verdict verdicts[SITES_MAX];
	uint32_t ids[SITES_MAX];
	struct error ignored = { 0 };
	bool all = true;

	for (size_t i = 0; i < nr && all; i++)
		all = site_of(s, &probes->v.v[found[i]], spec, &how[i]);
	if (!all)
		return false;
	for (size_t i = 0; i < nr; i++)
		how[i].id = ids[i] = watchlist_add_static(&s->list, spec->name, role);
	all = probe_add(s->probe, how, nr, verdicts, &ignored) >= 0;
	for (size_t i = 0; i < nr && all; i++)
		all = verdicts[i].means == PROBE_PATCHED;
	if (!all)
		probe_remove(s->probe, ids, nr, &ignored);
	return all;
}

/* The probes of one name in one file are taken together. */
static int attach(struct session *s, const struct usdts *probes, const uint32_t *found, size_t nr,
		  const struct interval_spec *spec, enum interval_role role, struct error *err)
{
	uint32_t number = watchlist_add_static(&s->list, spec->name, role), module = UINT32_MAX;
	struct functions *f = &s->functions;
	int got = s->statics ? 0 : statics_open(&s->statics, err);

	for (size_t i = 0; i < nr && got >= 0; i++) {
		const struct usdt *u = &probes->v.v[found[i]];

		if (u->module != module)
			got = statics_add(s->statics,
					  arena_z(&f->arena, f->modules.v[u->module].path),
					  arena_z(&f->arena, u->provider),
					  arena_z(&f->arena, u->name), number, &spec->take, err);
		module = u->module;
	}
	return got;
}

/* What is called by the functions that hold the probes is where one begins to look. */
static void meet_callees(struct session *s, const struct usdts *probes, const uint32_t *found,
			 size_t nr)
{
	struct error ignored = { 0 };
	struct callees c;

	for (size_t i = 0; i < nr; i++) {
		const struct usdt *u = &probes->v.v[found[i]];
		uint32_t holder = functions_at(&s->functions, u->module, u->address);

		if (holder == UINT32_MAX ||
		    functions_callees(&s->functions, holder, &c, &ignored) < 0)
			continue;
		for (size_t k = 0; k < c.nr; k++)
			watchlist_meet(&s->list, c.v[k], 1);
	}
}

int session_static(struct session *s, const struct interval_spec *spec, enum interval_role role,
		   struct error *err)
{
	struct usdts probes = { 0 };
	uint32_t found[SITES_MAX];
	size_t nr;
	int got = 0;

	usdts_read(&probes, &s->functions);
	nr = usdts_find(&probes, spec->provider, spec->name, found, SITES_MAX);
	if (!nr && spec->is_optional) {
		got = 0;
	} else if (!nr) {
		usdts_missing(&probes, spec->provider, spec->name, err);
		got = spec_show(spec, err);
	} else if (spec->take.from == TAKE_RETURN) {
		error_set(err, EINVAL, "a static probe returns nothing: name an argument");
		got = spec_show(spec, err);
	} else if (!patch(s, &probes, found, nr, spec, role)) {
		got = attach(s, &probes, found, nr, spec, role, err);
	}
	if (got >= 0)
		meet_callees(s, &probes, found, nr);
	usdts_done(&probes);
	return got;
}
