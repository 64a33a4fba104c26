/* Any text tells a duration that can be or none, and a request that stands inside of it. */
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "source/layout.h"
#include "source/request_line.h"
#include "source/spent.h"

static struct layout_worker *worker_new(struct layout **layout)
{
	const struct layout_hints hints = { .zone = STR("UTC") };
	struct error err;

	if (layout_compile(layout, "%d %m", &hints, &err) < 0)
		abort();
	return layout_worker_new(*layout);
}

static bool is_inside(struct str text, struct str part)
{
	return part.n && part.p >= text.p && part.p + part.n <= text.p + text.n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct layout *layout;
	static struct layout_worker *worker;
	struct str text = { (const char *)data, size }, method, path;

	if (!worker)
		worker = worker_new(&layout);
	if (spent_find(text, worker) < -1)
		abort();
	if (request_line_find(text, &method, &path)) {
		if (!is_inside(text, method) || !is_inside(text, path))
			abort();
		request_line_leads(text, method);
	}
	return 0;
}
