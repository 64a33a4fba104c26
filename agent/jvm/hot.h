/* What runs at each hop stands together in memory: in a program that does much else, most of what a
 * hop costs is to get there. */
#ifndef CULPRIT_AGENT_JVM_HOT_H
#define CULPRIT_AGENT_JVM_HOT_H

#define HOT __attribute__((hot))

#endif
