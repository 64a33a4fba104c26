/* Takes apart what a descriptor says of a field's type or a method's parameters. */
#ifndef CULPRIT_PROGRAM_DESCRIPTOR_H
#define CULPRIT_PROGRAM_DESCRIPTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* The next type, such as I, La/b/C; or [J; false at the closing bracket, at the end, when damaged.
 */
bool descriptor_take(struct str *s, struct str *type);
/* The parameters of a method: what stands between the brackets. */
struct str descriptor_parameters(struct str method);
struct str descriptor_result(struct str method);
/* How many places the type takes on the stack: 0 for void, 2 for long and double. */
static inline unsigned descriptor_slots(struct str type)
{
	if (!type.n || type.p[0] == 'V')
		return 0;
	return type.p[0] == 'J' || type.p[0] == 'D' ? 2 : 1;
}
/* a/b/C of La/b/C; the type itself for anything else. */
struct str descriptor_class(struct str type);

#endif
