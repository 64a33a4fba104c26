/* Names of files, three by line: what rotation makes of them fits, and orders them. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "source/nodename.h"
#include "source/rotation.h"

static int sign(int r)
{
	return (r > 0) - (r < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str in = { (const char *)data, size }, v[3] = { { 0 } };
	struct arena arena = { 0 };
	struct rotation r;

	for (int i = 0; i < 3; i++) {
		str_take_line(&in, &v[i]);
		rotation_of(v[i], &r);
		assert(strlen(r.log) <= v[i].n);
		assert(r.age == ROTATION_DATED || !r.date.n);
		assert(nodename_of_path(&arena, v[i]).n <= v[i].n + 5);
		assert(!rotation_cmp(v[i], v[i]));
	}
	for (int i = 0; i < 3; i++) {
		int r12 = rotation_cmp(v[i], v[(i + 1) % 3]);
		int r23 = rotation_cmp(v[(i + 1) % 3], v[(i + 2) % 3]);

		assert(sign(r12) == -sign(rotation_cmp(v[(i + 1) % 3], v[i])));
		assert(sign(rotation_cmp_paths(v[i], v[(i + 1) % 3])) ==
		       -sign(rotation_cmp_paths(v[(i + 1) % 3], v[i])));
		if (r12 <= 0 && r23 <= 0)
			assert(rotation_cmp(v[i], v[(i + 2) % 3]) <= 0);
	}
	arena_done(&arena);
	return 0;
}
