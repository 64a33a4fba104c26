/* Stands in for probe.c on other processors, and where the build had no capstone or libelf. */
#include <errno.h>

#include "base/error.h"
#include "capture/probe/probe.h"
#include "capture/probe/kin.h"
#include "capture/probe/spawn.h"

bool probe_is_built(void)
{
	return false;
}

int probe_open(struct probe **p, const struct probe_options *o, struct error *err)
{
	(void)p, (void)o;
	return error_set(err, ENOTSUP,
			 "this culprit was built without probes of functions (they need x86-64, "
			 "capstone and libelf)");
}

void probe_close(struct probe *p)
{
	(void)p;
}

int probe_add(struct probe *p, const struct probe_function *v, size_t nr,
	      struct probe_verdict *verdicts, struct error *err)
{
	(void)p, (void)v, (void)nr, (void)verdicts;
	return error_set(err, ENOTSUP, "no probes");
}

int probe_remove(struct probe *p, const uint32_t *ids, size_t nr, struct error *err)
{
	(void)p, (void)ids, (void)nr;
	return error_set(err, ENOTSUP, "no probes");
}

void probe_pause(struct probe *p, bool is_paused)
{
}

int probe_read(struct probe *p, const struct probe_reader *r, int64_t *until, struct error *err)
{
	(void)p, (void)r, (void)until;
	return error_set(err, ENOTSUP, "no probes");
}

int probe_read_open(struct probe *p, const struct probe_reader *r, struct error *err)
{
	(void)p, (void)r;
	return error_set(err, ENOTSUP, "no probes");
}

void probe_count(const struct probe *p, struct probe_counts *c)
{
	(void)p;
	*c = (struct probe_counts){ 0 };
}

bool probe_site(const struct probe *p, uint32_t site, const char **module, uint64_t *address)
{
	(void)p, (void)site, (void)module, (void)address;
	return false;
}

double probe_cost_ns(const struct probe *p)
{
	(void)p;
	return 0;
}

double probe_paused_ns(const struct probe *p)
{
	(void)p;
	return 0;
}

int spawn_stopped(char *const argv[], int prints, int *pid, struct error *err)
{
	(void)argv, (void)pid;
	return error_set(err, ENOTSUP, "no probes");
}

int spawn_until(char *const argv[], int prints, const struct spawn_wish *wish, struct spawned *out,
		struct error *err)
{
	(void)argv, (void)prints, (void)wish, (void)out;
	return error_set(err, ENOTSUP, "no probes");
}

int spawn_go(int pid)
{
	(void)pid;
	return -ENOTSUP;
}

size_t probe_nr_regions(const struct probe *p)
{
	(void)p;
	return 0;
}

struct probe_view probe_region(const struct probe *p, size_t i)
{
	(void)p, (void)i;
	return (struct probe_view){ 0 };
}

uint64_t kin_started(int pid)
{
	(void)pid;
	return 0;
}

size_t kin_below(int pid, int *pids, size_t room)
{
	(void)pid, (void)pids, (void)room;
	return 0;
}
