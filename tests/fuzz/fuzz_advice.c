/* A program of a stranger is refused, or it runs and ends; a bag of a stranger is refused, or it
 * can be read, packed into and joined. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "lib/advice/vm.h"
#include "query/advice_verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(void *to, const struct advice_row *row)
{
	volatile uint64_t *sum = to;

	for (size_t i = 0; i < row->program->nr_columns; i++)
		*sum += advice_value_hash(&row->columns[i]);
	for (size_t i = 0; i < row->program->nr_totals; i++)
		*sum += row->totals[i].nr + advice_value_hash(&row->totals[i].value);
}

static void fill(struct advice_value *inputs)
{
	static const char text[ADVICE_TEXT] = "12.5";

	for (size_t i = 0; i < ADVICE_INPUTS; i++)
		inputs[i] = (struct advice_value){ .type = (uint8_t)(i % 4), .i = (int64_t)i - 3 };
	for (size_t i = 4; i < ADVICE_INPUTS; i += 5)
		inputs[i] = (struct advice_value){ .type = ADVICE_TEXTUAL,
						   .length = (uint16_t)(i % 9),
						   .text = text };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct advice_program *p = calloc(1, sizeof(*p));
	size_t nr = size < sizeof(*p) ? size : sizeof(*p);
	struct bag *bag = malloc(sizeof(*bag)), *other = malloc(sizeof(*other));
	struct advice_value inputs[ADVICE_INPUTS];
	struct bag_writer w;
	struct error err;
	uint64_t sum = 0;
	struct advice_out out = { .to = &sum, .emit = take };

	memcpy(p, data, nr);
	fill(inputs);
	bag_deserialize(bag, data + nr, size - nr);
	bag_writer_begin(&w, (uint64_t)5 << 40);
	if (advice_verify(p, NULL, &err) == 0) {
		for (uint64_t i = 0; i < 3; i++)
			advice_run(p, inputs, bag, &w, 10 + i, &out);
		bag_adopt(other, bag, &w);
		advice_run(p, inputs, other, &w, 20, &out);
		bag_join(other, bag);
		if (out.nr_emitted > 4 * ADVICE_ROWS || bag_bytes(other) > BAG_BYTES)
			abort();
	}
	free(p);
	free(bag);
	free(other);
	return 0;
}
