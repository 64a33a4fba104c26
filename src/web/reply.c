#include "web/reply.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/jsonout.h"

void reply_done(struct reply *r)
{
	buf_done(&r->body);
	if (r->file)
		close(r->file);
}

void reply_error(struct reply *r, unsigned status, const char *fmt, ...)
{
	struct jsonout j = { .out = &r->body };
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	buf_clear(&r->body);
	r->status = status;
	r->type = "application/json";
	r->fixed = (struct str){ 0 };
	r->is_packed = false;
	r->etag[0] = '\0';
	jsonout_open(&j, '{');
	jsonout_key(&j, "error");
	jsonout_str(&j, str_of(text));
	jsonout_close(&j, '}');
	buf_char(&r->body, '\n');
}
