#include "capture/probe/budget.h"

#define SAVED_NS 5e8  /* what was not used of so much time may be used later */
#define LENT_NS 2e9   /* likewise at the beginning */
#define DUE_PART 0.25 /* of what is given pays back what was due at the beginning */

void budget_begin(struct budget *b, double share, int64_t now)
{
	*b = (struct budget){ .share = share, .at = now };
}

void budget_lend(struct budget *b)
{
	b->credit = b->share * LENT_NS;
}

void budget_lose(struct budget *b, enum lost_by by, double ns)
{
	b->lost[by] += ns;
	b->credit -= ns;
}

void budget_lose_first(struct budget *b, enum lost_by by, double ns)
{
	b->lost[by] += ns;
	b->due += ns;
}

void budget_give(struct budget *b, int64_t now)
{
	double given = b->share * (double)(now - b->at), back = DUE_PART * given;
	double most = b->credit > b->share * SAVED_NS ? b->credit : b->share * SAVED_NS;

	back = back < b->due ? back : b->due;
	b->due -= back;
	b->credit += given - back;
	b->at = now;
	/* what was lent is not taken back, and not added to */
	if (b->credit > most)
		b->credit = most;
}

int64_t budget_wait(const struct budget *b)
{
	if (b->credit >= 0)
		return 0;
	return b->share > 0 ? (int64_t)(-b->credit / b->share) + 1 : INT64_MAX;
}
