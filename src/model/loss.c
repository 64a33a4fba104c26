#include "model/loss.h"

#include <string.h>

static const struct {
	const char *name, *one, *several;
} losses[] = {
#define LOSS_ROW(id, name, one, several) { name, one, several },
	LOSSES(LOSS_ROW)
#undef LOSS_ROW
};

const char *loss_name(enum loss loss)
{
	return losses[loss].name;
}

const char *loss_text(enum loss loss, uint64_t count)
{
	return count == 1 ? losses[loss].one : losses[loss].several;
}

bool loss_find(const char *name, enum loss *loss)
{
	for (int i = 0; i < LOSS_NR; i++) {
		if (strcmp(losses[i].name, name))
			continue;
		*loss = (enum loss)i;
		return true;
	}
	return false;
}

bool loss_is_of_objects(enum loss loss)
{
	switch (loss) {
	case LOSS_IDENTIFIERS_LEFT:
	case LOSS_IDS_NO_SCOPE:
	case LOSS_IDS_LEFT:
	case LOSS_NAMES_ONCE:
	case LOSS_TYPES_IDLE:
	case LOSS_LIVES_GUESSED:
	case LOSS_LIVES_LEFT:
	case LOSS_MENTIONS_FORGOTTEN:
		return true;
	default:
		return false;
	}
}

void losses_add(struct losses *to, const struct losses *from)
{
	for (int i = 0; i < LOSS_NR; i++)
		to->count[i] += from->count[i];
}

void losses_most(struct losses *to, const struct losses *from)
{
	for (int i = 0; i < LOSS_NR; i++)
		if (from->count[i] > to->count[i])
			to->count[i] = from->count[i];
}
