/*
 * How what a thread carries came to it: which request it works for, as this process numbers them,
 * and what it carried before it took up something else for a while.
 *
 * It tells what an element of a queue means to who takes it out (carrier.c).
 */
#ifndef CULPRIT_AGENT_JVM_CARRIED_H
#define CULPRIT_AGENT_JVM_CARRIED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jni.h>

struct bag;
struct parcel;

enum carried_how {
	CARRIED_LIFE,    /* no request began here: all that the thread does is one */
	CARRIED_BEGUN,   /* a tracepoint began it, or it came over a connection */
	CARRIED_BORN,    /* the thread was made by who carried it */
	CARRIED_TASK,    /* with a task that was handed over */
	CARRIED_MESSAGE, /* with a message */
	CARRIED_ELEMENT, /* with an element of a queue */
};

/* Of a request's number: it came with a header, so that who sent it knows what to do with one. */
#define CARRIED_ASKED (1ull << 63)
/* … It began here, or was asked for here: whatever has another such number is of another request.
 * (What comes with an answer has a number that says nothing.) */
#define CARRIED_APART (1ull << 62)

struct carried {
	enum carried_how how;
	uint32_t depth; /* of an element: the frames of who took it out */
	uint64_t request;
	bool is_named;          /* the request is told to objects though nothing is carried yet */
	uint64_t mark, session; /* of the guest, when this was so */
};

/* Of the thread that runs, as it is now. NULL: there is no memory. */
struct carried *carried_here(void);
/* It has just taken up what is of this request; 0: of one that nobody knows. */
void carried_set(struct carried *c, enum carried_how how, uint64_t request);
/* Whether it works for somebody, as it was when it was last looked at, whatever it takes out of
 * queues that comes from nobody (element.c): cheap. */
bool carried_is_settled(void);
/* Whether it may be a loop (element.c), likewise. */
bool carried_is_loop(void);
/* A number that nobody has yet. */
uint64_t carried_new(void);

/* All that is known of a thread, where threads are carried by others (virtual.h). NULL: there is no
 * memory. */
struct carried_thread;
struct carried_thread *carried_thread_new(void);
void carried_thread_free(struct carried_thread *t);
/* What is known of the thread that runs becomes this one's, and is forgotten there. */
struct carried_thread *carried_thread_moved(void);
/* The thread that runs is this one from now on; what it was before. NULL: one of which nothing is
 * known yet. */
struct carried_thread *carried_thread_use(struct carried_thread *t);

/* Whether any request was ever begun here, or came with a message. */
bool carried_any(void);

/* Objects, or NULL, that the thread is to know until it notes others, or the same place says that
 * it is over. False: there is no memory. */
bool carried_note(JNIEnv *env, uint64_t place, jobject a, jobject b);
void carried_unnote(JNIEnv *env, uint64_t place);
jobject carried_noted(unsigned which);

/* What the thread carries, to be handed on: the caller is a user of it. NULL: nothing, or there is
 * no memory (*is_lost). */
struct parcel *carried_hold(bool *is_lost);
/* Whether what it carries, this bag, is what the request that it works for came with. */
bool carried_is_as_asked(const struct bag *bag);
/* It carries this, or nothing, from now on. */
void carried_carry(struct parcel *p);
/* … this as well. */
void carried_join(const struct parcel *p);

/* Until the same place asks for it again; p: another user. -1: there is no memory; what is taken up
 * again is nothing then. */
int carried_put_aside(uint64_t place, struct parcel *p);
/* The caller is a user of *p, which may be NULL; *how: how it came here. False: nothing was put
 * aside there, and what was since was left without a word and is forgotten. */
bool carried_take_up(uint64_t place, struct parcel **p, struct carried *how);

#endif
