/* Names the two ends of a message: by a file that the user gives, by the capture, by address. */
#ifndef CULPRIT_SOURCE_CAPTURE_NAMES_H
#define CULPRIT_SOURCE_CAPTURE_NAMES_H

#include "base/names.h"
#include "source/packet.h"

struct capture_names;
struct error;
struct input;

struct capture_names *capture_names_new(void);
void capture_names_free(struct capture_names *n);

/*
 * Lines "ADDRESS NAME", "ADDRESS:PORT NAME", "[ADDRESS]:PORT NAME", "*:PORT NAME"; # begins a
 * comment. An address may be a network ("10.1.0.0/16"). Several lines may give one name: a process
 * with many ports, a service with many addresses. A line of the form of /etc/hosts gives its first
 * name, one of /etc/services the name of a port. Who asks from an address at which only one name
 * listens has that name.
 */
int capture_names_read(struct capture_names *n, const char *path, struct error *err);
int capture_names_parse(struct capture_names *n, struct input *in, struct error *err);
/* A name that the capture itself tells; the user's own go first. */
void capture_names_add(struct capture_names *n, const struct address *a, struct str name);
/* The service that listens there, or the machine that asks from there; stays valid. */
struct str capture_names_server(struct capture_names *n, const struct endpoint *e);
struct str capture_names_client(struct capture_names *n, const struct endpoint *e);

/* Both as numbers, for those who ask often. */
sym_t capture_names_sym(struct capture_names *n, const struct endpoint *e, bool is_server);
/* 0 where no rule names it. */
sym_t capture_names_rule(struct capture_names *n, const struct endpoint *e, bool is_server);
struct str capture_names_str(const struct capture_names *n, sym_t sym);

#endif
