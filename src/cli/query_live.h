/* A query put to processes that run: culprit query --live. */
#ifndef CULPRIT_CLI_QUERY_LIVE_H
#define CULPRIT_CLI_QUERY_LIVE_H

struct call;

/* text: the query, with saved ones in front. An exit status. */
int query_live(const struct call *call, const char *text);
/* Of processes of all hosts whose agents a hub knows. */
int query_hub(const struct call *call, const char *text);

#endif
