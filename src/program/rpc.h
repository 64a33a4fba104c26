/* Knows the calls that another process answers: service stubs, remote interfaces, their proxies. */
#ifndef CULPRIT_PROGRAM_RPC_H
#define CULPRIT_PROGRAM_RPC_H

#include "program/program.h"

/* A method that answers the calls of one name with one kind of message. */
struct rpc_answer {
	sym_t name, message;
	uint32_t method;
};

struct rpc {
	const struct program *program;
	bool *is_generated; /* by class: made by the protocol compiler */
	bool *is_server;    /* by class: answers service calls */
	bool *is_remote;    /* by class: an interface of which proxies are made for an address */
	bool *asks;         /* by method: hands its call on to a service of the same name */
	VEC(struct rpc_answer) answers; /* by name, message and method */
};

void rpc_init(struct rpc *r, const struct program *p);
void rpc_done(struct rpc *r);

/* Whether it is a method of a service: what it is given begins with a controller. */
bool rpc_is_service(struct str type);
/* Who answers a call of a service method; how many. */
uint32_t rpc_answers(const struct rpc *r, const struct member_ref *m,
		     const struct rpc_answer **first);
/*
 * A call may lead to a proxy and to what stands behind it in another process: the side that
 * answers calls the latter, everyone else the proxy. Keeps those targets; how many.
 */
uint32_t rpc_choose(const struct rpc *r, uint32_t caller_class, uint32_t *targets, uint32_t nr);

#endif
