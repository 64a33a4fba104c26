#include "tests/jvm/jvm.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

JavaVM *jvm;
JNIEnv *jvm_env;
jvmtiEnv *jvm_tools;

static unsigned nr_complaints;

/* Whatever the JVM prints comes by here. */
static jint JNICALL hear(FILE *to, const char *fmt, va_list args)
{
	char said[512];
	int n = vsnprintf(said, sizeof(said), fmt, args);

	(void)to;
	if (strstr(said, "WARNING") || strstr(said, "FATAL"))
		nr_complaints++;
	fprintf(stderr, "%s", said);
	return n;
}

unsigned jvm_nr_complaints(void)
{
	return nr_complaints;
}

bool jvm_start(const char *library, const char *classes, const char *option)
{
	typedef jint (*create_fn)(JavaVM **, void **, void *);
	void *handle = dlopen(library, RTLD_NOW | RTLD_GLOBAL);
	create_fn create = handle ? (create_fn)dlsym(handle, "JNI_CreateJavaVM") : NULL;
	char path[4096];
	JavaVMOption options[] = {
		{ .optionString = path },
		{ .optionString = (char *)"vfprintf", .extraInfo = (void *)hear },
		{ .optionString = (char *)"-Xmx128m" },
		{ .optionString = (char *)"-XX:+UseSerialGC" },
		{ .optionString = (char *)option },
	};
	JavaVMInitArgs args = { .version = JNI_VERSION_1_8,
				.nOptions = option ? 5 : 4,
				.options = options };

	snprintf(path, sizeof(path), "-Djava.class.path=%s", classes);
	if (!create) {
		fprintf(stderr, "no JVM in '%s': %s\n", library, dlerror());
		return false;
	}
	return create(&jvm, (void **)&jvm_env, &args) == JNI_OK &&
	       (*jvm)->GetEnv(jvm, (void **)&jvm_tools, JVMTI_VERSION_1_2) == JNI_OK;
}

jobject jvm_make(jclass class, const char *method, const char *type)
{
	jmethodID id = (*jvm_env)->GetStaticMethodID(jvm_env, class, method, type);
	jobject o = id ? (*jvm_env)->CallStaticObjectMethod(jvm_env, class, id) : NULL;

	if ((*jvm_env)->ExceptionCheck(jvm_env) || !o) {
		(*jvm_env)->ExceptionDescribe(jvm_env);
		exit(1);
	}
	return o;
}
