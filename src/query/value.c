#include "query/value.h"

#include <inttypes.h>
#include <math.h>

#include "base/buf.h"
#include "query/lex.h"

bool value_number(struct value v, const struct names *names, struct value *number)
{
	struct str text;
	int64_t i;
	double d;

	*number = v;
	if (v.type == VALUE_INT || v.type == VALUE_DOUBLE)
		return true;
	if (v.type != VALUE_TEXT)
		return false;
	text = str_trim(names_str(names, v.text));
	if (str_take_int(&text, &i) && !text.n) {
		*number = value_int(i);
		return true;
	}
	text = str_trim(names_str(names, v.text));
	if (!str_take_double(&text, &d) || text.n || !isfinite(d))
		return false;
	*number = value_double(d);
	return true;
}

double value_as_double(struct value n)
{
	return n.type == VALUE_DOUBLE ? n.d : (double)n.i;
}

static int rank(struct value v)
{
	return v.type == VALUE_NULL ? 0 : v.type == VALUE_TEXT ? 2 : 1;
}

static int cmp_numbers(struct value a, struct value b)
{
	double x, y;

	if (a.type != VALUE_DOUBLE && b.type != VALUE_DOUBLE)
		return (a.i > b.i) - (a.i < b.i);
	x = value_as_double(a);
	y = value_as_double(b);
	return (x > y) - (x < y);
}

int value_cmp(struct value a, struct value b, const struct names *names)
{
	int ra = rank(a), rb = rank(b);

	if (ra != rb)
		return ra - rb;
	if (!ra)
		return 0;
	return ra == 1 ? cmp_numbers(a, b)
		       : str_cmp(names_str(names, a.text), names_str(names, b.text));
}

bool value_same(struct value a, struct value b)
{
	int ra = rank(a);

	if (ra != rank(b))
		return false;
	return !ra || (ra == 1 ? !cmp_numbers(a, b) : a.text == b.text);
}

uint64_t value_hash(struct value v)
{
	uint64_t h = 0;
	double d;

	if (v.type == VALUE_TEXT) {
		h = (uint64_t)v.text << 2 | 2;
	} else if (v.type != VALUE_NULL) {
		d = value_as_double(v) + 0.0;
		memcpy(&h, &d, sizeof(h));
	}
	h *= 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

void value_show(struct buf *b, struct value v, const struct names *names)
{
	switch ((enum value_type)v.type) {
	case VALUE_NULL:
		buf_add(b, STR("null"));
		return;
	case VALUE_BOOL:
		buf_add(b, v.i ? STR("true") : STR("false"));
		return;
	case VALUE_INT:
		buf_fmt(b, "%" PRId64, v.i);
		return;
	case VALUE_DOUBLE:
		buf_fmt(b, "%.15g", v.d);
		return;
	case VALUE_TEXT:
		buf_add(b, names_str(names, v.text));
		return;
	}
}

struct value value_add(struct value a, struct value b)
{
	int64_t sum;

	if (a.type == VALUE_INT && b.type == VALUE_INT && !__builtin_add_overflow(a.i, b.i, &sum))
		return value_int(sum);
	return value_double(value_as_double(a) + value_as_double(b));
}

struct value value_times(struct value a, uint64_t n)
{
	int64_t product;

	if (n == 1)
		return a;
	if (a.type == VALUE_INT && !__builtin_mul_overflow(a.i, n, &product))
		return value_int(product);
	return value_double(value_as_double(a) * (double)n);
}

static void no_number(struct evaluation *ev, const struct expr *e, struct value v)
{
	struct buf shown = { 0 };

	if (!ev->has_failed) {
		value_show(&shown, v, ev->names);
		lex_error(ev->text, e->place, ev->err,
			  "a number is needed, and this is %s'" STR_FMT "'",
			  v.type == VALUE_TEXT ? "text: " : "",
			  STR_ARG(str_head(buf_str(&shown), 60)));
		buf_done(&shown);
	}
	ev->has_failed = true;
}

static bool eval_number(const struct expr *e, struct evaluation *ev, struct value *n)
{
	struct value v = expr_eval(e, ev);

	if (v.type == VALUE_NULL)
		return false;
	if (value_number(v, ev->names, n))
		return true;
	no_number(ev, e, v);
	return false;
}

static struct value whole(enum expr_op op, int64_t a, int64_t b)
{
	int64_t r;

	switch (op) {
	case OP_ADD:
		return __builtin_add_overflow(a, b, &r) ? value_double((double)a + (double)b)
							: value_int(r);
	case OP_SUB:
		return __builtin_sub_overflow(a, b, &r) ? value_double((double)a - (double)b)
							: value_int(r);
	case OP_MUL:
		return __builtin_mul_overflow(a, b, &r) ? value_double((double)a * (double)b)
							: value_int(r);
	case OP_MOD:
		return !b ? VALUE_NONE : value_int(b == -1 ? 0 : a % b);
	default:
		break;
	}
	if (!b)
		return VALUE_NONE;
	if (b != -1 && a % b == 0)
		return value_int(a / b);
	return value_double((double)a / (double)b);
}

static struct value arithmetic(const struct expr *e, struct evaluation *ev)
{
	struct value a, b;
	double x, y;

	if (!eval_number(e->a, ev, &a) || !eval_number(e->b, ev, &b))
		return VALUE_NONE;
	if (a.type == VALUE_INT && b.type == VALUE_INT)
		return whole(e->op, a.i, b.i);
	x = value_as_double(a);
	y = value_as_double(b);
	if ((e->op == OP_DIV || e->op == OP_MOD) && y == 0)
		return VALUE_NONE;
	return value_double(e->op == OP_ADD   ? x + y
			    : e->op == OP_SUB ? x - y
			    : e->op == OP_MUL ? x * y
			    : e->op == OP_DIV ? x / y
					      : fmod(x, y));
}

/* A number and a text that is written like one are compared as numbers: logs have no types. */
static struct value compare(const struct expr *e, struct evaluation *ev)
{
	struct value a = expr_eval(e->a, ev), b = expr_eval(e->b, ev), x, y;
	int cmp;

	if (e->a->kind == EXPR_NULL || e->b->kind == EXPR_NULL) {
		bool is = a.type == VALUE_NULL && b.type == VALUE_NULL;

		return value_bool(e->op == OP_EQ ? is : e->op == OP_NE ? !is : 0);
	}
	if (a.type == VALUE_NULL || b.type == VALUE_NULL)
		return VALUE_NONE;
	if ((a.type == VALUE_TEXT) != (b.type == VALUE_TEXT)) {
		if (value_number(a, ev->names, &x) && value_number(b, ev->names, &y)) {
			a = x;
			b = y;
		} else if (e->op != OP_EQ && e->op != OP_NE) {
			no_number(ev, a.type == VALUE_TEXT ? e->a : e->b,
				  a.type == VALUE_TEXT ? a : b);
			return VALUE_NONE;
		}
	}
	cmp = value_cmp(a, b, ev->names);
	switch (e->op) {
	case OP_EQ:
		return value_bool(!cmp);
	case OP_NE:
		return value_bool(cmp != 0);
	case OP_LT:
		return value_bool(cmp < 0);
	case OP_LE:
		return value_bool(cmp <= 0);
	case OP_GT:
		return value_bool(cmp > 0);
	default:
		return value_bool(cmp >= 0);
	}
}

bool expr_holds(const struct expr *e, struct evaluation *ev)
{
	struct value v = expr_eval(e, ev);

	return (v.type == VALUE_BOOL || v.type == VALUE_INT) && v.i;
}

static struct value unary(const struct expr *e, struct evaluation *ev)
{
	struct value v;

	if (e->op == OP_NEG)
		return eval_number(e->a, ev, &v)
			       ? v.type == VALUE_INT ? whole(OP_SUB, 0, v.i) : value_double(-v.d)
			       : VALUE_NONE;
	v = expr_eval(e->a, ev);
	return v.type == VALUE_NULL
		       ? v
		       : value_bool(!((v.type == VALUE_BOOL || v.type == VALUE_INT) && v.i));
}

struct value expr_eval(const struct expr *e, struct evaluation *ev)
{
	switch (e->kind) {
	case EXPR_INT:
		return value_int(e->i);
	case EXPR_DOUBLE:
		return value_double(e->d);
	case EXPR_BOOL:
		return value_bool(e->i);
	case EXPR_TEXT:
		return value_text(names_add(ev->names, e->text));
	case EXPR_NULL:
		return VALUE_NONE;
	case EXPR_NAME:
		return e->a ? expr_eval(e->a, ev) : ev->row[e->number];
	case EXPR_AGGREGATE:
		return ev->total ? ev->total[e->number] : VALUE_NONE;
	case EXPR_UNARY:
		return unary(e, ev);
	case EXPR_BINARY:
		break;
	}
	if (e->op == OP_AND)
		return value_bool(expr_holds(e->a, ev) && expr_holds(e->b, ev));
	if (e->op == OP_OR)
		return value_bool(expr_holds(e->a, ev) || expr_holds(e->b, ev));
	return e->op <= OP_GE ? compare(e, ev) : arithmetic(e, ev);
}
