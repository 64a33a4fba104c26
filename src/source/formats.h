/* The formats that can be read, one constant each; source.c puts them into its table. */
#ifndef CULPRIT_SOURCE_FORMATS_H
#define CULPRIT_SOURCE_FORMATS_H

#include "source/source.h"

extern const struct source source_otlp_json;
extern const struct source source_otlp_protobuf;
extern const struct source source_jaeger;
extern const struct source source_zipkin;
extern const struct source source_chrome;
extern const struct source source_capture;
extern const struct source source_messages;
extern const struct source source_dag;
extern const struct source source_logs;
extern const struct source source_text;

#endif
