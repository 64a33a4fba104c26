/* Stands in for cmd_serve.c where the build had nothing to make the page with. */
#include "cli/command.h"
#include "cli/say.h"

int cmd_serve(const struct call *call)
{
	(void)call;
	say_error("this culprit was built without the page: install libmicrohttpd-dev, nodejs and "
		  "npm and build it again; culprit analyze --html FILE writes a report that a "
		  "browser opens");
	return EXIT_CANNOT;
}
