/* The delays at which a correlation stands out of its noise. */
#ifndef CULPRIT_INFER_CONVOLVE_SPIKES_H
#define CULPRIT_INFER_CONVOLVE_SPIKES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/vec.h"

#define SPIKES_MOST 8 /* of one correlation, the clearest */

struct spike {
	size_t from, until; /* quanta of delay [from, until) */
	double excess;      /* how much stands above the noise there: about so many messages */
	double noise;       /* what would stand there by chance */
	double sigmas;      /* how far it stands out */
};

struct spike_options {
	double rise; /* N of the paper: a spike is so many standard deviations above the mean */
	double fall; /* S of the paper: it ends where the correlation is less than so many */
	/* the deviation is that of random coincidences, whatever else the correlation shows */
	bool is_bold;
};

#define SPIKE_DEFAULTS { .rise = 4, .fall = 3 }

/* Reused from call to call; zero is ready. */
struct spikes {
	double *sum; /* running sums of the correlation */
	float *rest; /* smoothed, less the mean around */
	size_t room;
	VEC(struct spike) seen;      /* at any width */
	struct spike v[SPIKES_MOST]; /* by delay */
	size_t nr;
};

void spikes_done(struct spikes *s);
void spikes_find(struct spikes *s, const float *correlation, size_t nr_lags,
		 const struct spike_options *o);

#endif
