#include "infer/inference.h"

#include <stddef.h>

#include "infer/convolve/convolve.h"
#include "infer/named/named.h"
#include "infer/paths/paths.h"
#include "infer/requests/requests.h"

const struct inference *const inferences[] = {
	&infer_requests, &infer_named, &infer_paths, &infer_convolve, NULL,
};
