#include "model/loss_pack.h"

#include <string.h>

#define NAME_MAX_BYTES 64

void losses_pack(struct buf *b, const struct losses *l)
{
	size_t nr = 0;

	for (int i = 0; i < LOSS_NR; i++)
		nr += l->count[i] != 0;
	buf_varint(b, nr);
	for (int i = 0; i < LOSS_NR; i++)
		if (l->count[i]) {
			buf_bytes(b, str_of(loss_name((enum loss)i)));
			buf_varint(b, l->count[i]);
		}
}

bool losses_take(struct str *bytes, struct losses *l)
{
	char name[NAME_MAX_BYTES];
	uint64_t nr, count;
	struct str text;
	enum loss loss;

	if (!str_take_varint(bytes, &nr))
		return false;
	while (nr--) {
		if (!str_take_bytes(bytes, &text) || text.n >= sizeof(name) ||
		    !str_take_varint(bytes, &count))
			return false;
		memcpy(name, text.p, text.n);
		name[text.n] = 0;
		if (loss_find(name, &loss))
			l->count[loss] += count;
	}
	return true;
}
