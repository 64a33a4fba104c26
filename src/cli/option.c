#include "cli/option.h"

#include <errno.h>

#include "base/error.h"
#include "base/str.h"
#include "base/time.h"
#include "ask/question.h"
#include "cli/command.h"

int option_number(const struct call *call, const char *name, uint64_t max, uint64_t *value,
		  struct error *err)
{
	const char *text = call_get(call, name);
	struct str s = str_of(text ? text : "");
	uint64_t n;

	if (!text)
		return 0;
	if (!str_take_uint(&s, &n) || s.n || !n || n > max)
		return error_set(err, EINVAL, "--%s '%s' is no number from 1 to %llu", name, text,
				 (unsigned long long)max);
	*value = n;
	return 0;
}

int option_time(const struct call *call, const char *name, int64_t *ns, struct error *err)
{
	const char *text = call_get(call, name);

	if (text && (!time_parse_span(str_of(text), ns) || *ns <= 0))
		return error_set(err, EINVAL, "--%s '%s' is no time; write it like 30s or 2min",
				 name, text);
	return 0;
}

int option_share(const struct call *call, const char *name, double *share, struct error *err)
{
	const struct args args = { call->options, call->values, NULL };

	return args_share(&args, name, share, err);
}
