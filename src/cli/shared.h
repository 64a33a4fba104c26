/* The options that several commands have in common, each written once. */
#ifndef CULPRIT_CLI_SHARED_H
#define CULPRIT_CLI_SHARED_H

/* How raw inputs are read; without effect on a run file. */
#define READING_OPTIONS \
	{ "model", "MODEL...", \
	  "the program that wrote the logs: its model (culprit learn), or its jars" }, \
		{ "layout", "PATTERN", \
		  "layout of the log lines as a log4j pattern (default: found out)" }, \
		{ "zone", "ZONE", \
		  "zone of times that name none: +02:00, UTC (default: the local one)" }, \
		{ "program", "FILE...", \
		  "of objects: a program that wrote the logs, in any language; its texts tell " \
		  "wording from names" }, \
		{ "types", "FILE", \
		  "of objects: lines 'NAME = TYPE', 'ignore TYPE', 'same TYPE TYPE'" }, \
		{ "memory", "SIZE", \
		  "of objects: what is beyond this lies in a file: 2G (default: 512M)" }, \
		{ "max-skew", "TIME", \
		  "make no clock correction larger than this: 10ms; 0 makes none" }, \
		{ "idle", "TIME", \
		  "silence after which a request id means a new request (default: 1min)" }, \
		{ "names", "FILE", \
		  "names of hosts in captures: lines of ADDRESS[/BITS][:PORT] NAME" }, \
		{ "blind", NULL, \
		  "in captures: ignore the trace and request ids that messages carry" }

/* Where a run goes besides a file, or instead of one. */
#define STORING_OPTIONS \
	{ "store", "ADDRESS", "store the run in PostgreSQL: postgresql://USER@HOST/DATABASE" }, \
		{ "run", "NAME", "its name there (default: that of the file)" }

#define SHARED_OPTIONS \
	{ "json", NULL, "one JSON object per line" }, \
		{ "html", "FILE", "also write the report as one self-contained HTML file" }, \
		READING_OPTIONS

#endif
