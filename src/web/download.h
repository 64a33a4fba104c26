/* A run in the format of another tool, as a file to save: /api/export?run=1&format=perfetto. */
#ifndef CULPRIT_WEB_DOWNLOAD_H
#define CULPRIT_WEB_DOWNLOAD_H

struct api;
struct asked;
struct reply;

void download_answer(const struct api *api, const struct asked *a, struct reply *r);

#endif
