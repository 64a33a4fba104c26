#include "web/crowd.h"

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/mem.h"

/* In a ring through the crowd: who was busy last stands last. */
struct guest {
	struct guest *before, *after;
	int socket;
	bool is_busy, is_sent_off;
};

struct crowd {
	pthread_mutex_t lock;
	pthread_cond_t has_room;
	struct guest ring;
	size_t nr, nr_most;
	size_t nr_working, nr_working_most;
};

struct crowd *crowd_new(size_t nr_most, size_t nr_answered)
{
	struct crowd *c = mem_zalloc(sizeof(*c));

	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->has_room, NULL);
	c->ring.before = c->ring.after = &c->ring;
	c->nr_most = nr_most;
	c->nr_working_most = nr_answered;
	return c;
}

void crowd_free(struct crowd *c)
{
	if (!c)
		return;
	pthread_cond_destroy(&c->has_room);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static void step_out(struct guest *g)
{
	g->before->after = g->after;
	g->after->before = g->before;
}

static void stand_last(struct crowd *c, struct guest *g)
{
	g->before = c->ring.before;
	g->after = &c->ring;
	g->before->after = g->after->before = g;
}

/* Its thread sees the end of the connection and leaves by itself. */
static void send_one_off(struct crowd *c)
{
	for (struct guest *g = c->ring.after; g != &c->ring; g = g->after)
		if (!g->is_busy && !g->is_sent_off) {
			g->is_sent_off = true;
			shutdown(g->socket, SHUT_RDWR);
			return;
		}
}

struct guest *crowd_come(struct crowd *c, int socket)
{
	struct guest *g = mem_zalloc(sizeof(*g));

	g->socket = socket;
	pthread_mutex_lock(&c->lock);
	if (c->nr >= c->nr_most)
		send_one_off(c);
	stand_last(c, g);
	c->nr++;
	pthread_mutex_unlock(&c->lock);
	return g;
}

size_t crowd_leave(struct crowd *c, struct guest *g)
{
	size_t nr;

	pthread_mutex_lock(&c->lock);
	step_out(g);
	nr = --c->nr;
	pthread_mutex_unlock(&c->lock);
	free(g);
	return nr;
}

void crowd_begin(struct crowd *c, struct guest *g)
{
	pthread_mutex_lock(&c->lock);
	g->is_busy = true;
	pthread_mutex_unlock(&c->lock);
}

void crowd_end(struct crowd *c, struct guest *g)
{
	pthread_mutex_lock(&c->lock);
	g->is_busy = false;
	step_out(g);
	stand_last(c, g);
	pthread_mutex_unlock(&c->lock);
}

bool crowd_is_gone(const struct guest *g)
{
	struct pollfd p = { .fd = g->socket, .events = POLLRDHUP };

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

bool crowd_wait(struct crowd *c, struct guest *g)
{
	bool is_there = true;

	pthread_mutex_lock(&c->lock);
	while (c->nr_working >= c->nr_working_most) {
		pthread_cond_wait(&c->has_room, &c->lock);
		is_there = !crowd_is_gone(g);
	}
	if (is_there)
		c->nr_working++;
	else
		pthread_cond_signal(&c->has_room);
	pthread_mutex_unlock(&c->lock);
	return is_there;
}

void crowd_done(struct crowd *c)
{
	pthread_mutex_lock(&c->lock);
	c->nr_working--;
	pthread_cond_signal(&c->has_room);
	pthread_mutex_unlock(&c->lock);
}

void crowd_resume(struct crowd *c)
{
	pthread_mutex_lock(&c->lock);
	c->nr_working++;
	pthread_mutex_unlock(&c->lock);
}
