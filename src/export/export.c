#include "export/export.h"

#include <string.h>

const struct exporter *const exporters[] = {
	&export_otlp, &export_perfetto, &export_jaeger,  &export_chrome,       &export_folded,
	&export_dot,  &export_csv,      &export_objects, &export_object_types, NULL,
};

const struct exporter *exporter_find(const char *name)
{
	for (const struct exporter *const *e = exporters; *e; e++)
		if (!strcmp((*e)->name, name))
			return *e;
	return NULL;
}
