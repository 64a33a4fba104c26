/* culprit agent --queries: runs the queries that a hub has in the processes of this host. */
#ifndef CULPRIT_CLI_AGENT_QUERIES_H
#define CULPRIT_CLI_AGENT_QUERIES_H

struct call;

/* An exit status. */
int agent_queries(const struct call *call);

#endif
