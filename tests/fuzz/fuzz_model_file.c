/*
 * A model of any bytes opens or is explained, and everything in it can be asked for.
 *
 * The head is made to fit: otherwise its sum would keep all but whole files out.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/loss.h"
#include "program/model_file.h"
#include "program/model_format.h"

static void must(bool ok)
{
	if (!ok)
		abort();
}

static size_t see(struct str s)
{
	size_t sum = s.n;

	if (s.n)
		sum += (unsigned char)s.p[0] + (unsigned char)s.p[s.n - 1];
	return sum;
}

static size_t see_list(struct model_list l, uint32_t below)
{
	if (l.nr)
		must(l.v[0] < below && l.v[l.nr - 1] < below);
	return l.nr;
}

static size_t see_points(const struct model_file *m)
{
	size_t sum = 0;

	for (uint32_t i = 0; i < model_nr_points(m); i++) {
		struct model_point p = model_point(m, i);
		struct model_method method = model_method(m, p.method);

		must(p.level <= LEVEL_FATAL && p.method < model_nr_methods(m));
		sum += see(p.logger) + see(method.class) + see(method.name) + see(method.file);
		sum += see_list(p.tops, model_nr_tops(m));
		must(p.versions.first + p.versions.nr <= model_nr_versions(m));
	}
	for (uint32_t i = 0; i < model_nr_versions(m); i++) {
		struct model_version v = model_version(m, i);

		for (uint32_t k = 0; k < v.parts.nr && k < 64; k++) {
			struct model_part p = model_part(m, v.parts.first + k);

			must(p.kind <= PART_ANY && p.type <= HOLE_ERROR);
			sum += see(p.text) + see(p.path);
		}
	}
	return sum;
}

static size_t see_tops(const struct model_file *m)
{
	size_t sum = 0;

	for (uint32_t i = 0; i < model_nr_tops(m); i++) {
		struct model_top t = model_top(m, i);

		must(t.method < model_nr_methods(m));
		sum += see_list(t.points, model_nr_points(m));
		sum += see_list(t.pairs, model_nr_pairs(m));
		for (uint32_t k = 0; k < t.ids.nr && k < 64; k++)
			sum += see(model_id(m, t.ids.first + k).path);
		for (uint32_t k = 0; k < t.nodes.nr && k < 64; k++)
			sum += see_list(model_node(m, t.nodes.first + k).points,
					model_nr_points(m));
	}
	for (uint32_t i = 0; i < model_nr_pairs(m); i++) {
		struct model_pair p = model_pair(m, i);

		must(p.from < model_nr_methods(m) && p.to < model_nr_methods(m));
		sum += see(p.through);
		if (p.shared.nr)
			sum += see(model_shared(m, p.shared.first).from);
	}
	for (uint32_t i = 0; i < model_nr_thread_names(m); i++)
		must(model_thread_name(m, i).method < model_nr_methods(m));
	return sum;
}

static size_t see_index(const struct model_file *m)
{
	struct losses losses = { 0 };
	size_t sum = 0;

	for (uint32_t i = 0; i < model_nr_literals(m); i++)
		sum += see(model_literal(m, i).text);
	for (uint32_t i = 0; i < model_nr_loggers(m); i++) {
		struct model_logger l = model_logger(m, i);

		sum += see(l.name) + see_list(l.points, model_nr_points(m));
		sum += model_find_logger(m, l.name).nr;
	}
	for (uint32_t i = 0; i < model_nr_places(m); i++) {
		struct model_place p = model_place(m, i);

		must(p.point < model_nr_points(m));
		sum += model_find_place(m, p.file, p.line).nr;
	}
	for (uint32_t i = 0; i < model_nr_inputs(m); i++)
		sum += see(model_input(m, i).name);
	model_losses(m, &losses);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t from = offsetof(struct disk_head, sum) + sizeof(uint64_t);
	char *bytes = malloc(size ? size : 1);
	struct disk_head *h = (struct disk_head *)bytes;
	struct model_file *m = NULL;
	struct error err = { 0 };

	memcpy(bytes, data, size);
	if (size >= sizeof(*h) && data[0] != 'x') {
		memcpy(h->magic, MODEL_MAGIC, sizeof(h->magic));
		h->version = MODEL_VERSION;
		h->order = MODEL_ORDER;
		h->bytes = size;
		h->sum = str_hash((struct str){ bytes + from, size - from });
	}
	if (model_of_bytes(&m, (struct str){ bytes, size }, &err) < 0) {
		must(err.msg[0]);
	} else {
		see_points(m);
		see_tops(m);
		see_index(m);
		model_close(m);
	}
	free(bytes);
	return 0;
}
