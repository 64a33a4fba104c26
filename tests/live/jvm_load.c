/* jvm_load PID LIBRARY OPTIONS: has a JVM load a library; says what went wrong. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "capture/jvm/attach.h"

int main(int argc, char **argv)
{
	struct error err = { 0 };

	if (argc != 4)
		return 2;
	if (jvm_attach_load(atoi(argv[1]), argv[2], argv[3], &err) < 0) {
		printf("%s\n", err.msg);
		return 1;
	}
	return 0;
}
