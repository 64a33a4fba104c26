#include "ask/question.h"

#include <errno.h>
#include <string.h>

#include "ask/answer/answer.h"
#include "ask/diff/diff.h"
#include "ask/objects/objects.h"
#include "ask/paths/paths.h"
#include "ask/query/query.h"
#include "ask/requests/requests.h"
#include "ask/slow/slow.h"
#include "ask/variance/variance.h"
#include "base/error.h"
#include "base/str.h"

const struct question *const questions[] = { &ask_answer,   &ask_requests, &ask_slow,
					     &ask_paths,    &ask_diff,     &ask_objects,
					     &ask_variance, &ask_query,    NULL };

const char *args_get(const struct args *a, const char *name)
{
	for (size_t i = 0; a->options && a->options[i].name; i++)
		if (!strcmp(a->options[i].name, name))
			return a->values[i];
	return NULL;
}

bool args_has(const struct args *a, const char *name)
{
	return args_get(a, name) != NULL;
}

int args_uint(const struct args *a, const char *name, uint64_t *value, struct error *err)
{
	const char *text = args_get(a, name);
	struct str s = str_of(text);
	uint64_t v;

	if (!text)
		return 0;
	if (!str_take_uint(&s, &v) || s.n)
		return error_set(err, EINVAL, "--%s takes a whole number, not '%s'", name, text);
	*value = v;
	return 0;
}

int args_share(const struct args *a, const char *name, double *value, struct error *err)
{
	const char *text = args_get(a, name);
	struct str s = str_of(text);
	double v;

	if (!text)
		return 0;
	if (!str_take_double(&s, &v))
		return error_set(err, EINVAL, "--%s takes a share such as 1%% or 0.01, not '%s'",
				 name, text);
	str_take_spaces(&s);
	if (str_take_char(&s, '%'))
		v /= 100;
	if (s.n || !(v > 0 && v < 1))
		return error_set(err, EINVAL,
				 "--%s takes a share above 0 and below 1 (0.01, 1%%), not '%s'",
				 name, text);
	*value = v;
	return 0;
}

bool args_for_people(const struct args *a)
{
	for (size_t i = 0; a->options && a->options[i].name; i++)
		if (!strcmp(a->options[i].name, "json"))
			return !a->values[i];
	return false;
}
