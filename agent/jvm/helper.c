#include "agent/jvm/helper.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "program/class.h"

#define NAME "culprit/Advice"
#define COPIES 32
#define MAJOR 49 /* Java 5: no frames are asked for, and there is no code anyway */
#define PUBLIC_FINAL_SUPER 0x0031
#define PUBLIC_STATIC_NATIVE 0x0109

static char own_name[32] = NAME;

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

static void utf8(struct buf *b, const char *text)
{
	struct str s = str_of(text);

	u1(b, CONSTANT_UTF8);
	u2(b, (unsigned)s.n);
	buf_add(b, s);
}

static void class_of(struct buf *b, unsigned name)
{
	u1(b, CONSTANT_CLASS);
	u2(b, name);
}

/* Constants: 1 and 2 this class, 3 and 4 its super class, then name and type of each method. */
void helper_write(const struct helper_method *methods, size_t nr, struct buf *b)
{
	buf_add(b, (struct str){ "\xca\xfe\xba\xbe\0\0", 6 });
	u2(b, MAJOR);
	u2(b, (unsigned)(5 + 2 * nr));
	utf8(b, own_name);
	class_of(b, 1);
	utf8(b, "java/lang/Object");
	class_of(b, 3);
	for (size_t i = 0; i < nr; i++) {
		utf8(b, methods[i].name);
		utf8(b, methods[i].type);
	}
	u2(b, PUBLIC_FINAL_SUPER);
	u2(b, 2);
	u2(b, 4);
	u2(b, 0);
	u2(b, 0);
	u2(b, (unsigned)nr);
	for (size_t i = 0; i < nr; i++) {
		u2(b, PUBLIC_STATIC_NATIVE);
		u2(b, (unsigned)(5 + 2 * i));
		u2(b, (unsigned)(6 + 2 * i));
		u2(b, 0);
	}
	u2(b, 0);
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

bool helper_define(JNIEnv *env, const struct helper_method *methods, size_t nr)
{
	jclass c = defined(env, methods, nr);
	JNINativeMethod *natives;
	bool is;

	if (!c)
		return false;
	natives = mem_alloc(mem_bytes(nr, sizeof(*natives)));
	for (size_t i = 0; i < nr; i++)
		natives[i] = (JNINativeMethod){ (char *)methods[i].name, (char *)methods[i].type,
						methods[i].code };
	is = (*env)->RegisterNatives(env, c, natives, (jint)nr) == 0;
	is = is_clean(env) && is;
	free(natives);
	(*env)->DeleteLocalRef(env, c);
	return is;
}
