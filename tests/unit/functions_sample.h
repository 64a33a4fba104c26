/* Between the files of the program that test_functions looks into. */
#ifndef CULPRIT_TESTS_FUNCTIONS_SAMPLE_H
#define CULPRIT_TESTS_FUNCTIONS_SAMPLE_H

#ifdef __cplusplus
extern "C"
#endif
	int
	sample_templates(int n);

#endif
