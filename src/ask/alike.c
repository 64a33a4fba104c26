#include "ask/alike.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct str service_of(struct str node, bool *replica)
{
	for (size_t i = 0; i < node.n; i++)
		if (node.p[i] == '@') {
			*replica = true;
			return str_head(node, i);
		}
	*replica = false;
	return node;
}

/* What stands at the front: a run of digits is one sign, whatever its number. */
static int take_sign(struct str *s)
{
	int sign = (unsigned char)s->p[0];
	size_t n = 1;

	if (is_digit(s->p[0])) {
		sign = '0';
		while (n < s->n && is_digit(s->p[n]))
			n++;
	}
	*s = str_skip(*s, n);
	return sign;
}

bool alike_names(struct str a, struct str b)
{
	bool a_of, b_of;

	a = service_of(a, &a_of);
	b = service_of(b, &b_of);
	if (a_of || b_of)
		return a_of && b_of && str_eq(a, b);
	while (a.n && b.n)
		if (take_sign(&a) != take_sign(&b))
			return false;
	return !a.n && !b.n;
}
