/* What a browser asked for, as plain data: the server fills it, everything else reads it. */
#ifndef CULPRIT_WEB_ASKED_H
#define CULPRIT_WEB_ASKED_H

#include <stdbool.h>
#include <stddef.h>

#define ASKED_PARAMS_MAX 32

struct asked_param {
	const char *name, *value; /* decoded */
};

struct asked {
	const char *method, *path;
	/* headers, NULL when absent */
	const char *host, *origin, *site, *cookie, *authorization, *if_none_match, *accept_encoding;
	struct asked_param params[ASKED_PARAMS_MAX];
	size_t nr_params;
	bool has_too_many; /* parameters */
	bool has_zero;     /* a byte within one of them */
	/* Whether the asker went away; may be NULL. */
	bool (*is_over)(void *to);
	void *over_to;
};

/* NULL when there is none. */
const char *asked_param(const struct asked *a, const char *name);

#endif
