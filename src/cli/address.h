/* Where a server listens, as people write it. */
#ifndef CULPRIT_CLI_ADDRESS_H
#define CULPRIT_CLI_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

struct error;

/* HOST:PORT, :PORT, PORT or HOST; [ADDRESS]:PORT for IPv6. Both keep what they were where nothing
 * is said. */
int address_take(const char *option, const char *text, char *host, size_t room, uint16_t *port,
		 struct error *err);

#endif
