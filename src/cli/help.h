/* Help texts, made from the command table. */
#ifndef CULPRIT_CLI_HELP_H
#define CULPRIT_CLI_HELP_H

struct command;

void help_all(void);
void help_command(const struct command *c);

#endif
