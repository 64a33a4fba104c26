#include "capture/jvm/status.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"
#include "capture/jvm/attach.h"
#include "capture/jvm/file.h"
#include "capture/jvm/library.h"

int jvm_status(int pid, struct buf *told, struct error *err)
{
	char library[4096], options[80];
	struct jvm_file answer;
	int got = jvm_library_for(pid, library, sizeof(library), err);

	if (got < 0)
		return got;
	got = jvm_file_open(&answer, pid, STR(""), err);
	if (got < 0)
		return got;
	snprintf(options, sizeof(options), "status %s", answer.path);
	got = jvm_attach_load(pid, library, options, err);
	if (got >= 0)
		got = jvm_file_read(&answer, 0, told, err);
	jvm_file_close(&answer);
	return got;
}

bool jvm_status_take(struct str *told, struct str *name, struct str *value)
{
	struct str line;

	if (!str_take_line(told, &line))
		return false;
	*name = str_head(line, str_find_char(line, '\t'));
	*value = str_skip(line, name->n + 1);
	return true;
}

bool jvm_property(struct str properties, struct str name, struct str *value)
{
	struct str line;

	while (str_take_line(&properties, &line)) {
		if (str_take(&line, name) && str_take_char(&line, '=')) {
			*value = line;
			return true;
		}
	}
	return false;
}
