#include "agent/jvm/annotated.h"

#include "agent/jvm/machine.h"
#include "agent/jvm/meant.h"
#include "agent/jvm/order.h"
#include "program/annotation.h"
#include "program/bytes.h"

/* How many bytes follow a constant's tag; of texts (1) as many as they say. 0: there is no such. */
static size_t constant_bytes(uint8_t tag)
{
	static const uint8_t bytes[] = {
		[3] = 4,  [4] = 4,  [5] = 8,  [6] = 8,  [7] = 2,  [8] = 2,  [9] = 4,  [10] = 4,
		[11] = 4, [12] = 4, [15] = 3, [16] = 2, [17] = 4, [18] = 4, [19] = 2, [20] = 2
	};

	return tag < sizeof(bytes) ? bytes[tag] : 0;
}

/* Whether the constants have what names both annotations that are wanted. */
static bool has_names(struct str pool, const struct wanted *w)
{
	bool on_class = !w->class_annotation.n, on_method = !w->method_annotation.n;
	struct str body;
	uint16_t nr;
	uint8_t tag;

	while (!(on_class && on_method) && bytes_take_u1(&pool, &tag)) {
		if (tag != 1) {
			if (!constant_bytes(tag) || !bytes_take(&pool, constant_bytes(tag), &body))
				return false;
			continue;
		}
		if (!bytes_take_u2(&pool, &nr) || !bytes_take(&pool, nr, &body))
			return false;
		on_class = on_class || annotation_is(body, w->class_annotation);
		on_method = on_method || annotation_is(body, w->method_annotation);
	}
	return on_class && on_method;
}

bool annotated_may_be(const struct wanted *w, jclass class, struct str name)
{
	unsigned char *bytes = NULL;
	jint nr = 0, nr_bytes = 0;
	bool is;

	if (!w->class_annotation.n && !w->method_annotation.n)
		return true;
	if (meant_is_anonymous(name))
		return false;
	if ((*machine)->GetConstantPool(machine, class, &nr, &nr_bytes, &bytes) != JVMTI_ERROR_NONE)
		return true;
	is = has_names((struct str){ (const char *)bytes, (size_t)nr_bytes }, w);
	(*machine)->Deallocate(machine, bytes);
	return is;
}
