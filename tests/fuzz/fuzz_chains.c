/*
 * Any lines are records of chains or refused: what a reducer is given, and what reducers hand back.
 */
#include <stdint.h>

#include "base/error.h"
#include "infer/requests/merge.h"
#include "infer/requests/reduce.h"
#include "store/store.h"

static int drop(void *to, struct str record, struct error *err)
{
	(void)to;
	(void)record;
	(void)err;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct reducer_out out = { NULL, drop };
	struct str rest = { (const char *)data, size }, line;
	struct reducer *r = reducer_new(NULL, &out);
	struct store *s = NULL;
	struct error err;
	struct merge m;

	if (store_create(&s, NULL, &err) < 0)
		return 0;
	merge_init(&m, s, 3);
	while (str_take_until(&rest, '\n', &line)) {
		reducer_add(r, line, &err);
		if (merge_record(&m, line, &err) < 0)
			continue;
	}
	reducer_end(r, &err);
	if (merge_check(&m, &err) >= 0)
		merge_end(&m, &err);
	merge_done(&m);
	store_close(s);
	reducer_free(r);
	return 0;
}
