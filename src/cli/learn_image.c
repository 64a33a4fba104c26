#include "cli/learn_image.h"

#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "program/learn.h"
#include "program/model_write.h"

/* Steps are told one after the other on one line of a terminal, and one a line when asked for. */
struct teller {
	bool is_terminal, is_asked;
};

static void tell_step(void *ctx, const char *what)
{
	struct teller *t = ctx;

	if (t->is_terminal)
		fprintf(stderr, "\r\033[Klearning: %s", what);
	else if (t->is_asked)
		fprintf(stderr, "learning: %s\n", what);
	fflush(stderr);
}

static void tell_end(const struct teller *t)
{
	if (t->is_terminal)
		fputs("\r\033[K", stderr);
}

int learn_image(const char *const *paths, size_t nr, const struct learn_asked *asked,
		struct buf *image, struct error *err)
{
	struct teller t = { isatty(STDERR_FILENO), asked->is_told };
	struct learn_options o = { .threads = asked->threads, .step = tell_step, .ctx = &t };
	struct learned l;
	int got = learn(&l, paths, nr, &o, err);

	if (got >= 0) {
		tell_step(&t, "model");
		model_write(&l, image);
		learned_done(&l);
	}
	tell_end(&t);
	return got;
}
