/* Writes a run in the formats of the tools that people already use; one constant for each format.
 */
#ifndef CULPRIT_EXPORT_EXPORT_H
#define CULPRIT_EXPORT_EXPORT_H

#include <stdio.h>

struct error;
struct store;

/* Adding one is a file and a line in the table of export.c. */
struct exporter {
	const char *name;
	const char *summary;
	const char *suffix; /* of files in this format */
	/* Streams: memory does not grow with the run. 0, or negative failure. */
	int (*write)(struct store *s, FILE *to, struct error *err);
};

extern const struct exporter *const exporters[]; /* ends with NULL */
/* By its name, or NULL. */
const struct exporter *exporter_find(const char *name);

extern const struct exporter export_otlp;
extern const struct exporter export_jaeger;
extern const struct exporter export_chrome;
extern const struct exporter export_perfetto;
extern const struct exporter export_folded;
extern const struct exporter export_dot;
extern const struct exporter export_csv;
extern const struct exporter export_objects;      /* their hierarchy */
extern const struct exporter export_object_types; /* how any two types relate */

#endif
