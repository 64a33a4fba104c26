#include "agent/jvm/helper.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "program/class.h"
#include "program/insn.h"

#define NAME "culprit/Advice"
#define COPIES 32
#define MAJOR 49 /* Java 5: no frames are asked for */
#define PUBLIC_STATIC 0x0009
#define PUBLIC_FINAL_SUPER 0x0031
#define PUBLIC_STATIC_NATIVE 0x0109
#define LOCALS 3
#define STACK 4 /* a long, an object, a number */
#define JUMPS 16
#define OP_ALOAD_0 (OP_ALOAD_3 - 3)
#define OP_ALOAD_2 (OP_ALOAD_3 - 1)
#define OP_ASTORE_2 (OP_ASTORE_3 - 1)
#define OP_ILOAD_1 (OP_ILOAD_0 + 1)
#define OP_BALOAD (OP_IALOAD + 5)
#define OP_IAND 126
#define OP_IFNE (OP_IFEQ + 1)
#define OP_IF_ACMPEQ (OP_IF_ACMPNE - 1)

static char own_name[32] = NAME;

/* A class file while it is made. */
struct writing {
	struct buf constants, fields, methods;
	unsigned nr, nr_fields, nr_methods;
};

struct str helper_name(void)
{
	return str_of(own_name);
}

static void u1(struct buf *b, unsigned v)
{
	buf_char(b, (char)v);
}

static void u2(struct buf *b, unsigned v)
{
	u1(b, v >> 8 & 0xff);
	u1(b, v & 0xff);
}

static void u4(struct buf *b, size_t v)
{
	u2(b, (unsigned)(v >> 16));
	u2(b, (unsigned)(v & 0xffff));
}

/* --- constants, by the number that they get ----------------------------------------------------
 */

static unsigned utf8(struct writing *w, const char *text)
{
	struct str s = str_of(text);

	u1(&w->constants, CONSTANT_UTF8);
	u2(&w->constants, (unsigned)s.n);
	buf_add(&w->constants, s);
	return ++w->nr;
}

static unsigned class_of(struct writing *w, const char *name)
{
	unsigned text = utf8(w, name);

	u1(&w->constants, CONSTANT_CLASS);
	u2(&w->constants, text);
	return ++w->nr;
}

static unsigned member(struct writing *w, unsigned tag, unsigned owner, const char *name,
		       const char *type)
{
	unsigned of_name = utf8(w, name), of_type = utf8(w, type), both;

	u1(&w->constants, CONSTANT_NAME_AND_TYPE);
	u2(&w->constants, of_name);
	u2(&w->constants, of_type);
	both = ++w->nr;
	u1(&w->constants, tag);
	u2(&w->constants, owner);
	u2(&w->constants, both);
	return ++w->nr;
}

/* --- members -----------------------------------------------------------------------------------
 */

static void field(struct writing *w, const char *name, const char *type)
{
	unsigned of_name = utf8(w, name), of_type = utf8(w, type);

	u2(&w->fields, PUBLIC_STATIC);
	u2(&w->fields, of_name);
	u2(&w->fields, of_type);
	u2(&w->fields, 0);
	w->nr_fields++;
}

static void native(struct writing *w, const struct helper_method *m)
{
	unsigned of_name = utf8(w, m->name), of_type = utf8(w, m->type);

	u2(&w->methods, PUBLIC_STATIC_NATIVE);
	u2(&w->methods, of_name);
	u2(&w->methods, of_type);
	u2(&w->methods, 0);
	w->nr_methods++;
}

static void method(struct writing *w, const char *name, const char *type, struct str code)
{
	unsigned of_name = utf8(w, name), of_type = utf8(w, type), what = utf8(w, "Code");

	u2(&w->methods, PUBLIC_STATIC);
	u2(&w->methods, of_name);
	u2(&w->methods, of_type);
	u2(&w->methods, 1);
	u2(&w->methods, what);
	u4(&w->methods, 2 + 2 + 4 + code.n + 2 + 2);
	u2(&w->methods, STACK);
	u2(&w->methods, LOCALS);
	u4(&w->methods, code.n);
	buf_add(&w->methods, code);
	u2(&w->methods, 0);
	u2(&w->methods, 0);
	w->nr_methods++;
}

/* --- methods with code -------------------------------------------------------------------------
 */

/* What they refer to. */
struct referred {
	unsigned muted[HELPER_MUTED_NR], loops, thread, hash, get_class, at;
};

static struct referred referred_to(struct writing *w, unsigned own)
{
	unsigned object = class_of(w, "java/lang/Object");
	struct referred r = {
		.loops = member(w, CONSTANT_FIELD, own, HELPER_LOOPS, "[B"),
		.thread = member(w, CONSTANT_METHOD, class_of(w, "java/lang/Thread"),
				 "currentThread", "()Ljava/lang/Thread;"),
		.hash = member(w, CONSTANT_METHOD, class_of(w, "java/lang/System"),
			       "identityHashCode", "(Ljava/lang/Object;)I"),
		.get_class = member(w, CONSTANT_METHOD, object, "getClass", "()Ljava/lang/Class;"),
		.at = member(w, CONSTANT_METHOD, own, "at", "(JLjava/lang/Object;I)V"),
	};

	for (unsigned i = 0; i < HELPER_MUTED_NR; i++) {
		char name[] = HELPER_MUTED "0";

		name[sizeof(name) - 2] += (char)i;
		r.muted[i] = member(w, CONSTANT_FIELD, own, name, "Ljava/lang/Class;");
	}
	return r;
}

/* Code of one method, with jumps that go on to two places. */
struct coding {
	struct buf code;
	struct {
		size_t at;
		bool is_told;
	} jumps[JUMPS];
	size_t nr_jumps;
};

static void with(struct coding *c, unsigned op, unsigned constant)
{
	u1(&c->code, op);
	u2(&c->code, constant);
}

/* To where the element is told, or to the end. */
static void jump(struct coding *c, unsigned op, bool is_told)
{
	c->jumps[c->nr_jumps].at = c->code.n;
	c->jumps[c->nr_jumps++].is_told = is_told;
	with(c, op, 0);
}

/* The jump there leads here. */
static void arrive(struct coding *c, size_t from)
{
	size_t far = c->code.n - from;

	c->code.p[from + 1] = (char)(far >> 8);
	c->code.p[from + 2] = (char)far;
}

static void land(struct coding *c, bool is_told)
{
	for (size_t i = 0; i < c->nr_jumps; i++)
		if (c->jumps[i].is_told == is_told)
			arrive(c, c->jumps[i].at);
}

/* There is no element: that means something to loops. */
static void none_code(struct coding *c, const struct referred *r)
{
	with(c, OP_GETSTATIC, r->loops);
	with(c, OP_INVOKESTATIC, r->thread);
	with(c, OP_INVOKESTATIC, r->hash);
	with(c, OP_SIPUSH, HELPER_LOOPS_NR - 1);
	u1(&c->code, OP_IAND);
	u1(&c->code, OP_BALOAD);
	jump(c, OP_IFNE, true);
	u1(&c->code, OP_RETURN);
}

static void muted_code(struct coding *c, const struct referred *r)
{
	u1(&c->code, OP_ALOAD_0);
	with(c, OP_INVOKEVIRTUAL, r->get_class);
	u1(&c->code, OP_ASTORE_2);
	for (unsigned i = 0; i < HELPER_MUTED_NR; i++) {
		u1(&c->code, OP_ALOAD_2);
		with(c, OP_GETSTATIC, r->muted[i]);
		jump(c, OP_IF_ACMPEQ, false);
	}
}

static void told_code(struct coding *c, const struct referred *r)
{
	land(c, true);
	u1(&c->code, OP_ALOAD_0);
	with(c, OP_INVOKESTATIC, r->hash);
	u1(&c->code, OP_I2L);
	u1(&c->code, OP_ALOAD_0);
	u1(&c->code, OP_ILOAD_1);
	with(c, OP_INVOKESTATIC, r->at);
	land(c, false);
	u1(&c->code, OP_RETURN);
}

static void elements(struct writing *w, unsigned own)
{
	const struct referred r = referred_to(w, own);
	struct coding put = { 0 }, next = { 0 }, idle = { 0 };
	size_t branch;

	u1(&put.code, OP_ALOAD_0);
	jump(&put, OP_IFNULL, false);
	muted_code(&put, &r);
	told_code(&put, &r);
	method(w, HELPER_PUT, HELPER_ELEMENT_TYPE, buf_str(&put.code));

	u1(&next.code, OP_ALOAD_0);
	branch = next.code.n;
	with(&next, OP_IFNONNULL, 0);
	none_code(&next, &r);
	arrive(&next, branch);
	muted_code(&next, &r);
	told_code(&next, &r);
	method(w, HELPER_NEXT, HELPER_ELEMENT_TYPE, buf_str(&next.code));

	u1(&idle.code, OP_ALOAD_0);
	jump(&idle, OP_IFNONNULL, false);
	none_code(&idle, &r);
	told_code(&idle, &r);
	method(w, HELPER_IDLE, HELPER_ELEMENT_TYPE, buf_str(&idle.code));
	buf_done(&put.code);
	buf_done(&next.code);
	buf_done(&idle.code);
}

void helper_write(const struct helper_method *methods, size_t nr, struct buf *b)
{
	struct writing w = { 0 };
	unsigned own = class_of(&w, own_name), super = class_of(&w, "java/lang/Object");

	field(&w, HELPER_LOOPS, "[B");
	for (unsigned i = 0; i < HELPER_MUTED_NR; i++) {
		char name[] = HELPER_MUTED "0";

		name[sizeof(name) - 2] += (char)i;
		field(&w, name, "Ljava/lang/Class;");
	}
	for (size_t i = 0; i < nr; i++)
		native(&w, &methods[i]);
	elements(&w, own);

	buf_add(b, (struct str){ "\xca\xfe\xba\xbe\0\0", 6 });
	u2(b, MAJOR);
	u2(b, w.nr + 1);
	buf_add(b, buf_str(&w.constants));
	u2(b, PUBLIC_FINAL_SUPER);
	u2(b, own);
	u2(b, super);
	u2(b, 0);
	u2(b, w.nr_fields);
	buf_add(b, buf_str(&w.fields));
	u2(b, w.nr_methods);
	buf_add(b, buf_str(&w.methods));
	u2(b, 0);
	buf_done(&w.constants);
	buf_done(&w.fields);
	buf_done(&w.methods);
}

static bool is_clean(JNIEnv *env)
{
	if (!(*env)->ExceptionCheck(env))
		return true;
	(*env)->ExceptionClear(env);
	return false;
}

static jclass defined(JNIEnv *env, const struct helper_method *methods, size_t nr)
{
	jclass c = NULL;

	/* a name that is taken is another copy's */
	for (unsigned copy = 1; !c && copy <= COPIES; copy++) {
		struct buf bytes = { 0 };

		snprintf(own_name, sizeof(own_name), NAME);
		if (copy > 1)
			snprintf(own_name, sizeof(own_name), NAME "%u", copy);
		helper_write(methods, nr, &bytes);
		c = (*env)->DefineClass(env, own_name, NULL, (const jbyte *)bytes.p,
					(jsize)bytes.n);
		buf_done(&bytes);
		if (!is_clean(env))
			c = NULL;
	}
	return c;
}

/* What its code reads, before any of it runs. */
static bool loops_make(JNIEnv *env, jclass c)
{
	jfieldID field = (*env)->GetStaticFieldID(env, c, HELPER_LOOPS, "[B");
	jbyteArray loops = is_clean(env) && field ? (*env)->NewByteArray(env, HELPER_LOOPS_NR)
						  : NULL;

	if (!is_clean(env) || !loops)
		return false;
	(*env)->SetStaticObjectField(env, c, field, loops);
	(*env)->DeleteLocalRef(env, loops);
	return true;
}

jclass helper_define(JNIEnv *env, const struct helper_method *methods, size_t nr)
{
	jclass c = defined(env, methods, nr);
	JNINativeMethod *natives;
	bool is;

	if (!c)
		return NULL;
	natives = mem_alloc(mem_bytes(nr, sizeof(*natives)));
	for (size_t i = 0; i < nr; i++)
		natives[i] = (JNINativeMethod){ (char *)methods[i].name, (char *)methods[i].type,
						methods[i].code };
	is = (*env)->RegisterNatives(env, c, natives, (jint)nr) == 0;
	is = is_clean(env) && is && loops_make(env, c);
	free(natives);
	if (is)
		return c;
	(*env)->DeleteLocalRef(env, c);
	return NULL;
}
