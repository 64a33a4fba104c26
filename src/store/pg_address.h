/* Where a run stands in PostgreSQL: a libpq address that may also name the run and the schema. */
#ifndef CULPRIT_STORE_PG_ADDRESS_H
#define CULPRIT_STORE_PG_ADDRESS_H

#include <stdbool.h>

struct buf;
struct error;

#define PG_ADDRESS_SCHEMA "culprit"
#define PG_ADDRESS_NAME_MOST 200 /* bytes of the name of a run */

struct pg_address {
	char *libpq;  /* what libpq understands, a password included: never to be shown */
	char *shown;  /* the same address for people: no password, "#NAME" at its end if one is set
		       */
	char *schema; /* of the tables */
	char *run;    /* or NULL: the newest */
};

/* Whether it begins like one: postgresql:// or postgres:// */
bool pg_address_is(const char *text);
/* The name of the run stands in the address ("?run=NAME", "#NAME") or in run, which may be NULL. */
int pg_address_parse(struct pg_address *a, const char *text, const char *run, struct error *err);
/* The address with a name at its end: run, which may be NULL, or its own, or otherwise. */
int pg_address_named(const char *text, const char *run, const char *otherwise, struct buf *named,
		     struct error *err);
void pg_address_done(struct pg_address *a);

#endif
