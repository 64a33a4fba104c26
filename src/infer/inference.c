#include "infer/inference.h"

#include <stddef.h>

#include "infer/named/named.h"

const struct inference *const inferences[] = {
	&infer_named,
	NULL,
};
