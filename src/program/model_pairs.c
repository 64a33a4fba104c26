/* The pairs of a model, and the names of threads. */
#include "program/model_making.h"

void making_pairs(struct making *m)
{
	(void)m;
}
