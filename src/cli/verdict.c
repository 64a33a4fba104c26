#include "cli/verdict.h"

#include <string.h>

#include "cli/command.h"
#include "cli/show.h"
#include "cli/steps.h"
#include "report/report.h"
#include "store/store.h"

static const struct question *find_question(const char *name)
{
	for (size_t i = 0; questions[i]; i++)
		if (!strcmp(questions[i]->name, name))
			return questions[i];
	return NULL;
}

int verdict(const struct call *call, struct store *s, const char *name, struct error *err)
{
	const struct question *answer = find_question("answer");
	const struct option none[] = { { 0 } };
	struct args args = { none, NULL, name };
	struct report report;
	int got, shown;

	report_init(&report);
	show_begin(&report, call);
	got = steps_tell(s, &report, err);
	if (got >= 0)
		got = answer->run(&s, &args, &report, err);
	losses_add(&report.losses, store_losses(s));
	shown = got >= 0 ? show_report(&report, call, err) : 0;
	report_done(&report);
	return shown < 0 ? shown : got;
}
