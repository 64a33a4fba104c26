/* Attributes of any bytes: reasons are found in them or not; those that are found can be packed and
 * come back the same. */
#include <stdint.h>
#include <stdlib.h>

#include "model/why.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str attrs = { (const char *)data, size };
	struct whys w, again;
	struct why v[64], other;
	struct buf packed = { 0 };
	size_t nr = 0;

	if (size > 4096 || !why_find(attrs, &w))
		return 0;
	while (nr < 64 && why_next(&w, &v[nr])) {
		if (v[nr].how >= WHY_HOW_NR)
			abort();
		v[nr].thing = str_head(v[nr].thing, 100);
		nr++;
	}
	why_add(&packed, v, nr);
	if (!why_find(buf_str(&packed), &again))
		abort();
	for (size_t i = 0; i < nr; i++)
		if (!why_next(&again, &other) || other.how != v[i].how ||
		    !str_eq(other.thing, v[i].thing))
			abort();
	buf_done(&packed);
	return 0;
}
