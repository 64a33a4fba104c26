#include "model/span.h"

const char *span_kind_name(enum span_kind kind)
{
	static const char *const names[] = { "",         "internal", "server", "client",
					     "producer", "consumer", "wait" };

	return kind >= SPAN_UNKNOWN && kind <= SPAN_WAIT ? names[kind] : "";
}

const char *edge_kind_name(enum edge_kind kind)
{
	static const char *const names[] = { "call",    "return", "message", "hand-off",
					     "wake-up", "after",  "link" };

	return kind >= EDGE_CALL && kind <= EDGE_LINK ? names[kind] : "";
}
