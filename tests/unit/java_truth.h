/* Java programs that carry their truth in comments, and what the analysis of them says. */
#ifndef CULPRIT_TESTS_JAVA_TRUTH_H
#define CULPRIT_TESTS_JAVA_TRUTH_H

#include "unit.h"

#include "model/loss.h"
#include "program/callgraph.h"
#include "program/identifiers.h"
#include "program/logpoints.h"
#include "program/order.h"

/* A jar of tests/java/compile, analysed. */
struct java {
	struct program *program;
	struct log_points points;
	struct callgraph graph;
	struct identifiers ids;
	struct orders orders;
	struct losses losses;
};

/* Skips the test when there was no javac to compile the programs. Names are of jars, without .jar.
 */
void java_open(struct java *j, const char *jar, const char *beside, unsigned threads);
void java_close(struct java *j);

/*
 * How many comments of tests/java/FOLDER/FILE are not true; each is printed. They say:
 *
 *	//= LEVEL[!] [LOGGER]: TEXT [| TEXT…] [|| …]	logs so (! with an exception); | further
 *		versions, || or else; {} a hole, {Block.id:integer} where from and of which type,
 *{*} perhaps anything, * alone whatever; LEVEL@-2: two lines above
 *	//> start CLASS.METHOD				hands it to another thread
 *	//> call CLASS.METHOD, //> no call …		runs it
 *	//@ top CLASS.METHOD, //@ no top …		where requests begin
 *	//@ id CLASS.METHOD FIELD, //@ no id …		what identifies them
 *	//@ order CLASS.METHOD: …			see java_order
 *
 * A statement that logs and has no comment is untrue as well, and so is a hand-over.
 */
unsigned java_lies(struct java *j, const char *folder, const char *file);
/* The test fails unless all comments of tests/java/rules/FILE are true, of what today's javac makes
 * of it and of what older ones made. */
void java_holds(const char *file);
/* "first: a; a -> b+c*, d!; d! -> ; last: b+c*": the texts, * repeated, ! after an exception. */
void java_order(struct java *j, uint32_t method, struct buf *b);
/* CLASS.METHOD, the class without its package; * at the end stands for any rest. */
uint32_t java_method(struct java *j, struct str name);

#endif
