#include "capture/jvm/message.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"

int jvm_message(struct buf *out, const char *name, const char *const arguments[JVM_ARGUMENTS],
		struct error *err)
{
	for (int i = 0; i < JVM_ARGUMENTS; i++)
		if (str_of(arguments[i]).n > JVM_ARGUMENT_BYTES)
			return error_set(err, E2BIG,
					 "a JVM takes %d bytes of an argument, and this has %zu: "
					 "'%.40s…'",
					 JVM_ARGUMENT_BYTES, strlen(arguments[i]), arguments[i]);
	buf_add(out, STR("1\0"));
	buf_add(out, str_of(name));
	buf_char(out, '\0');
	for (int i = 0; i < JVM_ARGUMENTS; i++) {
		buf_add(out, str_of(arguments[i]));
		buf_char(out, '\0');
	}
	return 0;
}

/* On one line, since it becomes part of a sentence. */
static void put_on_a_line(struct str text, char *out, size_t room)
{
	struct str line;
	size_t n = 0;

	*out = '\0';
	while (str_take_line(&text, &line) && n < room) {
		line = str_trim(line);
		if (line.n)
			n += (size_t)snprintf(out + n, room - n, "%s" STR_FMT, n ? " " : "",
					      STR_ARG(line));
	}
}

int jvm_answer(struct str reply, struct str *text, struct error *err)
{
	char why[300];
	int64_t status;

	if (!str_take_int(&reply, &status) || !str_take_char(&reply, '\n'))
		return error_set(err, EBADMSG, "the JVM answered what is no answer (%zu bytes)",
				 reply.n);
	put_on_a_line(reply, why, sizeof(why));
	if (status == 101)
		return error_set(err, EPROTO, "the JVM does not know this version of the protocol");
	if (status)
		return error_set(err, EIO, "the JVM refused (status %lld)%s%s", (long long)status,
				 *why ? ": " : "", why);
	*text = reply;
	return 0;
}

/* JDK 8 refuses without a word where it cannot load a library. */
static bool is_refused_silently(struct str reply)
{
	int64_t status;

	return str_take_int(&reply, &status) && !str_trim(reply).n;
}

int jvm_answer_load(struct str reply, int64_t *returned, struct error *err)
{
	struct str text, rest;
	char why[300];
	int got = jvm_answer(reply, &text, err);

	if (got == -EIO && is_refused_silently(reply))
		return error_set(err, EIO,
				 "the library was not loaded: the JVM cannot open it, or finds no "
				 "Agent_OnAttach in it; this JVM does not say which");
	if (got < 0)
		return got;
	rest = str_trim(text);
	str_take(&rest, STR("return code: ")); /* JDK 8 says the number alone */
	if (str_take_int(&rest, returned) && !rest.n)
		return 0;
	put_on_a_line(text, why, sizeof(why));
	/* JDK 21 and later, while they begin */
	return error_set(err, strstr(why, "only permitted in the live phase") ? EAGAIN : ENOEXEC,
			 "the JVM did not load the library: %s", why);
}
