/* What test_functions looks into: functions of every kind, whose names are the test's truth. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "culprit/interval.h"
#include "functions_sample.h"

#define APART __attribute__((noinline, noclone, used))
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

volatile int sample_sink;
int (*volatile sample_pointer)(int);

APART int leaf_exported(int n)
{
	sample_sink += n;
	return sample_sink;
}
int leaf_alias(int n) __attribute__((alias("leaf_exported")));

APART static int leaf_hidden(int n)
{
	sample_sink -= n;
	return sample_sink * 3;
}

APART int calls_directly(int n)
{
	return leaf_exported(n) + leaf_hidden(n + 1);
}

APART int calls_library(const char *text)
{
	return (int)strtol(text, NULL, 10) + 1;
}

APART int jumps_as_tail(int n)
{
	sample_sink = n;
	return leaf_hidden(n);
}

APART int calls_by_pointer(int n)
{
	CULPRIT_INTERVAL_CARRY(&sample_sink);
	return sample_pointer(n) + 1;
}

/* a jump table, which is no call */
APART int has_switch(int n)
{
	switch (n) {
	case 0:
		return leaf_exported(7);
	case 1:
		sample_sink = 9;
		return 4;
	case 2:
		sample_sink *= 3;
		return 1;
	case 3:
		sample_sink -= 3;
		return 5;
	case 4:
		sample_sink ^= 3;
		return 9;
	case 5:
		sample_sink |= 64;
		return 2;
	}
	return n;
}

__attribute__((cold, noinline)) static void complain(int n)
{
	fprintf(stderr, "wrong: %d\n", n);
	abort();
}

__attribute__((cold, noinline)) static void complain_loudly(int n)
{
	complain(n + 1);
	sample_sink = n;
}

/* what is put apart of it calls complain() and, not aligned as other functions are, the other */
APART int has_cold_part(int n)
{
	if (__builtin_expect(n > 1000, 0)) {
		if (n > 2000)
			complain_loudly(n);
		complain(n);
		sample_sink += 5;
	}
	return leaf_hidden(n) + 2;
}

static int choice_plain(int n)
{
	return n + 1;
}

static int choice_fancy(int n)
{
	return n + 2;
}

static int (*choose(void))(int)
{
	return getenv("FANCY_CHOICE") ? choice_fancy : choice_plain;
}
int chosen_at_start(int n) __attribute__((ifunc("choose")));

APART static void log_from(const char *function)
{
	if (sample_sink > 1000000)
		fputs(function, stderr);
}

#define TELLS(name) \
	APART int name(int n) \
	{ \
		log_from(__func__); \
		return sample_sink + n; \
	}
#define TELL_4(name) TELLS(name##0) TELLS(name##1) TELLS(name##2) TELLS(name##3)
TELL_4(tells_its_name_a)
TELL_4(tells_its_name_b)
TELL_4(tells_its_name_c)
TELL_4(tells_its_name_d)
TELL_4(tells_its_name_e)
TELL_4(tells_its_name_f)
/* and one whose name is not exported */
static TELLS(hidden_tells_its_name)

	int main(int argc, char **argv)
{
	CULPRIT_INTERVAL_BEGIN(argc);
	sample_pointer = argc > 5 ? leaf_hidden : leaf_exported;
	CULPRIT_INTERVAL_END((long)argc);
	return (calls_directly(argc) + calls_library(argv[0]) + jumps_as_tail(argc) +
		calls_by_pointer(argc) + has_switch(argc) + has_cold_part(argc) + leaf_alias(1) +
		chosen_at_start(argc) + sample_templates(argc) + hidden_tells_its_name(1)) &
	       1;
}
