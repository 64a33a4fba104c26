#include "program/annotation.h"

#include "program/bytes.h"
#include "program/class.h"

#define DEEP 16 /* of values within values: who nests them deeper is not read further */

bool annotation_is(struct str descriptor, struct str name)
{
	size_t from;

	if (descriptor.n < 3 || descriptor.p[0] != 'L' || descriptor.p[descriptor.n - 1] != ';')
		return false;
	descriptor = str_head(str_skip(descriptor, 1), descriptor.n - 2);
	if (!name.n || name.n > descriptor.n)
		return false;
	from = descriptor.n - name.n;
	for (size_t i = 0; i < name.n; i++)
		if ((descriptor.p[from + i] == '/' ? '.' : descriptor.p[from + i]) != name.p[i])
			return false;
	return !from || descriptor.p[from - 1] == '/' || descriptor.p[from - 1] == '$';
}

static bool annotation_pass(struct str *s, uint16_t *type, unsigned depth);

static bool value_pass(struct str *s, unsigned depth)
{
	uint16_t number, nr;
	uint8_t kind;

	if (depth > DEEP || !bytes_take_u1(s, &kind))
		return false;
	switch (kind) {
	case 'e': /* of an enum: its type and its name */
		return bytes_take_u2(s, &number) && bytes_take_u2(s, &number);
	case '@':
		return annotation_pass(s, &number, depth + 1);
	case '[':
		if (!bytes_take_u2(s, &nr))
			return false;
		while (nr--)
			if (!value_pass(s, depth + 1))
				return false;
		return true;
	default:
		return bytes_take_u2(s, &number);
	}
}

static bool annotation_pass(struct str *s, uint16_t *type, unsigned depth)
{
	uint16_t nr, name;

	if (!bytes_take_u2(s, type) || !bytes_take_u2(s, &nr))
		return false;
	while (nr--)
		if (!bytes_take_u2(s, &name) || !value_pass(s, depth))
			return false;
	return true;
}

bool annotation_among(const struct class *c, struct str list, struct str name)
{
	uint16_t nr, type;

	if (!bytes_take_u2(&list, &nr))
		return false;
	while (nr--) {
		bool is_whole = annotation_pass(&list, &type, 0);

		if (!is_whole)
			return false;
		if (annotation_is(class_utf8(c, type), name))
			return true;
	}
	return false;
}
