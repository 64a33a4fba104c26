/* Reads a field or calls a getter, of whatever type it is. */
#include <stdlib.h>
#include <string.h>

#include "agent/jvm/cell.h"
#include "agent/jvm/member.h"
#include "lib/advice/java_path.h"

static int64_t bits_of_float(jfloat f)
{
	int32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static int64_t bits_of_double(jdouble d)
{
	int64_t bits;

	memcpy(&bits, &d, sizeof(bits));
	return bits;
}

static void read_field(JNIEnv *env, jobject o, jfieldID f, struct cell *to)
{
	switch (to->type) {
	case 'Z':
		to->v.j = (*env)->GetBooleanField(env, o, f);
		break;
	case 'B':
		to->v.j = (*env)->GetByteField(env, o, f);
		break;
	case 'C':
		to->v.j = (*env)->GetCharField(env, o, f);
		break;
	case 'S':
		to->v.j = (*env)->GetShortField(env, o, f);
		break;
	case 'I':
		to->v.j = (*env)->GetIntField(env, o, f);
		break;
	case 'J':
		to->v.j = (*env)->GetLongField(env, o, f);
		break;
	case 'F':
		to->v.j = bits_of_float((*env)->GetFloatField(env, o, f));
		break;
	case 'D':
		to->v.j = bits_of_double((*env)->GetDoubleField(env, o, f));
		break;
	default:
		to->v.l = (*env)->GetObjectField(env, o, f);
	}
}

static void call_getter(JNIEnv *env, jobject o, jmethodID m, struct cell *to)
{
	switch (to->type) {
	case 'Z':
		to->v.j = (*env)->CallBooleanMethodA(env, o, m, NULL);
		break;
	case 'B':
		to->v.j = (*env)->CallByteMethodA(env, o, m, NULL);
		break;
	case 'C':
		to->v.j = (*env)->CallCharMethodA(env, o, m, NULL);
		break;
	case 'S':
		to->v.j = (*env)->CallShortMethodA(env, o, m, NULL);
		break;
	case 'I':
		to->v.j = (*env)->CallIntMethodA(env, o, m, NULL);
		break;
	case 'J':
		to->v.j = (*env)->CallLongMethodA(env, o, m, NULL);
		break;
	case 'F':
		to->v.j = bits_of_float((*env)->CallFloatMethodA(env, o, m, NULL));
		break;
	case 'D':
		to->v.j = bits_of_double((*env)->CallDoubleMethodA(env, o, m, NULL));
		break;
	default:
		to->v.l = (*env)->CallObjectMethodA(env, o, m, NULL);
	}
}

static bool read_member(struct evaluation *e, jobject o, const struct member *m, struct cell *to)
{
	if (m->is_missing)
		return cell_fail(e, PATH_MISSING);
	*to = (struct cell){ .type = m->type[0] == '[' ? 'L' : m->type[0], .is_own = true };
	/* what is not kept dies before the next step */
	to->declared = m->entry.is_kept ? m->type : NULL;
	if (!m->is_getter) {
		read_field(e->env, o, m->field, to);
		return true;
	}
	call_getter(e->env, o, m->getter, to);
	return !cell_threw(e);
}

bool cell_member(struct evaluation *e, const struct cell *c, const struct java_step *s,
		 struct class_cache *members, struct cell *to)
{
	jclass class = (*e->env)->GetObjectClass(e->env, c->v.l);
	struct member *m = member_find(members, e->env, e->jvmti, class, c->declared, s->name,
				       s->kind == JAVA_GETTER);
	bool is_read;

	(*e->env)->DeleteLocalRef(e->env, class);
	if (!m)
		return cell_fail(e, PATH_FAILED);
	is_read = read_member(e, c->v.l, m, to);
	if (!m->entry.is_kept)
		free(m);
	return is_read;
}
