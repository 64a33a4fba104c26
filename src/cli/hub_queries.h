/* The hub of live queries: runs it, makes keys for it, asks how it is. */
#ifndef CULPRIT_CLI_HUB_QUERIES_H
#define CULPRIT_CLI_HUB_QUERIES_H

struct call;

/* culprit hub --queries; all give an exit status. */
int hub_queries(const struct call *call);
/* culprit hub --keys DIR [--grant ROLE:NAME[@TENANT]] [--revoke NAME] */
int hub_keys(const struct call *call);
/* culprit hub --status ENDPOINT [--key FILE] [--json] */
int hub_status(const struct call *call);

#endif
