/*
 * Who may speak to a hub: everybody has a pair of keys (CurveZMQ) in a file of his own, which also
 * tells the hub's public key; the hub has a list of those whom it knows, with role and tenant.
 *
 *	DIR/hub.key     the hub's own pair
 *	DIR/known       ROLE NAME TENANT PUBLIC, one per line; read again when it changes
 *	DIR/NAME.key    of an agent, operator or hub below, to be brought to its host
 */
#ifndef CULPRIT_BUS_KEYS_H
#define CULPRIT_BUS_KEYS_H

#include <sys/stat.h>

#include "base/vec.h"
#include "bus/bus.h"

#define KEY_TEXT 41 /* Z85 and a zero */

struct bus_keys {
	enum bus_role role;
	char name[BUS_NAME_MAX + 1], tenant[BUS_NAME_MAX + 1];
	char public_key[KEY_TEXT], secret_key[KEY_TEXT];
	char hub_key[KEY_TEXT]; /* public, of the hub to call; empty in that of a hub itself */
	char *dir;              /* of a hub's: where the known ones are */
};

struct granted_one {
	enum bus_role role;
	char name[BUS_NAME_MAX + 1], tenant[BUS_NAME_MAX + 1], public_key[KEY_TEXT];
};

/* Zero is empty. */
struct granted {
	VEC(struct granted_one) v;
	struct stat read; /* of the file, when it was read */
};

/* DIR/hub.key and DIR/known, made when they are not there; the latter is empty then. */
int keys_make_hub(const char *dir, struct error *err);
/* A pair for somebody, in DIR/NAME.key, and a line in DIR/known. */
int keys_grant(const char *dir, enum bus_role role, const char *name, const char *tenant,
	       struct error *err);
/* Who has that name is not known any more; his file is removed. -ENOENT: nobody has. */
int keys_revoke(const char *dir, const char *name, struct error *err);

const char *bus_role_name(enum bus_role role);
bool bus_role_find(struct str name, enum bus_role *role);
/* Letters, digits and .-_ only, as it becomes the name of a file. */
bool bus_name_is_fine(struct str name);

void granted_done(struct granted *k);
/* Reads the list where it has changed. -errno and what is wrong with it, at which line. */
int granted_refresh(struct granted *k, const char *dir, struct error *err);
/* NULL: nobody. */
const struct granted_one *granted_find(const struct granted *k, const char *public_key);

#endif
