/* Questions over HTTP: /api/QUESTION?run=1&OPTION=VALUE answers what culprit QUESTION --json does.
 */
#ifndef CULPRIT_WEB_API_H
#define CULPRIT_WEB_API_H

#include <stdbool.h>

struct asked;
struct error;
struct live_hub;
struct reply;
struct runs;
struct answers;
struct apart;
struct crowd;

struct api {
	struct runs *runs;
	struct answers *answers;
	const char *version;
	struct apart *apart;
	const struct live_hub *live; /* NULL: no hub is known */
	struct crowd *crowd; /* in which every question has its place but those asked ahead */
};

/* The status that tells a browser of a failure. */
unsigned api_status(int failure);
/* The number of a run, from 1, out of a parameter. */
int api_run(const char *text, unsigned *run, struct error *err);

/* /api/runs: one object for each run that is open. */
void api_runs(const struct api *api, const struct asked *a, struct reply *r);
/* /api/questions: one object for each question, with its options. */
void api_questions(const struct api *api, const struct asked *a, struct reply *r);
/* Sees to it that what takes long is answered before it is asked for. False where it gave way to
 * somebody who waits for something else. */
bool api_ahead(const struct api *api, const struct asked *a);
/* /api/NAME for every name in the table of questions. */
void api_question(const struct api *api, const struct asked *a, struct reply *r);

#endif
