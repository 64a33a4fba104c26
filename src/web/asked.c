#include "web/asked.h"

#include <string.h>

const char *asked_param(const struct asked *a, const char *name)
{
	for (size_t i = 0; i < a->nr_params; i++)
		if (!strcmp(a->params[i].name, name))
			return a->params[i].value;
	return NULL;
}
