/* Where ZeroMQ was missing when Culprit was built. */
#include <errno.h>

#include "base/error.h"
#include "bus/buslink.h"

static int absent(struct error *err)
{
	return error_set(err, ENOTSUP, "this culprit was built without ZeroMQ (libzmq3-dev)");
}

bool buslink_is_there(void)
{
	return false;
}

int buslink_keypair(char *public_key, char *secret_key, struct error *err)
{
	(void)public_key, (void)secret_key;
	return absent(err);
}

struct bus_context *bus_context_new(int nr_links)
{
	(void)nr_links;
	return NULL;
}

void bus_context_free(struct bus_context *c)
{
	(void)c;
}

int buslink_dial(struct buslink **l, struct bus_context *c, const char *endpoint,
		 const struct bus_keys *keys, struct error *err)
{
	(void)l, (void)c, (void)endpoint, (void)keys;
	return absent(err);
}

int buslink_listen(struct buslink **l, const char *endpoints, const struct bus_keys *keys,
		   struct error *err)
{
	(void)l, (void)endpoints, (void)keys;
	return absent(err);
}

void buslink_close(struct buslink *l)
{
	(void)l;
}

int buslink_take(struct buslink *l, struct buslink_message *m)
{
	(void)l, (void)m;
	return 0;
}

int buslink_send(struct buslink *l, struct str whom, struct str body)
{
	(void)l, (void)whom, (void)body;
	return -ENOTSUP;
}

void buslink_wait(struct buslink *const *links, size_t nr, int timeout_ms)
{
	(void)links, (void)nr, (void)timeout_ms;
}

int buslink_fd(const struct buslink *l)
{
	(void)l;
	return -1;
}

void buslink_counts(struct buslink *l, struct buslink_counts *c)
{
	(void)l;
	*c = (struct buslink_counts){ 0 };
}

const char *buslink_trouble(struct buslink *l)
{
	(void)l;
	return "";
}

bool buslink_is_met(struct buslink *l)
{
	(void)l;
	return false;
}
