/*
 * The state of a hub, one file that is replaced as a whole: the standing queries with their totals
 * and open seconds, which reports of whom are in them, results that were not read, and reports to
 * the hub above that it has not acknowledged. Written as a row of messages, each with its length,
 * and a check sum behind them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "bus/hub_own.h"

#define STATE_MAX ((size_t)1 << 30)
#define PATH_ROOM 4096

/* What a partial in the state is of. */
enum part { PART_WHOLE, PART_WINDOW, PART_OUTGOING, PART_KEPT };

/* --- writing ------------------------------------------------------------------------------- */

static void put(struct buf *to, struct buf *scratch, const struct message *m)
{
	buf_clear(scratch);
	message_pack(scratch, m);
	buf_bytes(to, buf_str(scratch));
}

static void put_part(struct buf *to, struct buf *scratch, uint64_t query, enum part part,
		     uint64_t seq, int64_t from_ns, int64_t until_ns, struct str bytes)
{
	struct message m = { .kind = MESSAGE_REPORT };

	message_n(&m, (int64_t)query, part, (int64_t)seq, from_ns, until_ns);
	message_text(&m, bytes);
	put(to, scratch, &m);
}

static void put_kept(struct buf *to, struct buf *scratch, uint64_t query, const struct hub_kept *k)
{
	for (size_t i = 0; i < k->pieces.nr; i++) {
		struct message m = { .kind = MESSAGE_REPORT };

		message_n(&m, (int64_t)query, PART_KEPT, (int64_t)k->seq, k->from_ns, k->until_ns,
			  (int64_t)i);
		message_text(&m, buf_str(&k->pieces.v[i]));
		put(to, scratch, &m);
	}
}

static void put_watcher(struct buf *to, struct buf *scratch, uint64_t query,
			const struct hub_watcher *w)
{
	struct message m = { .kind = MESSAGE_WATCH };

	message_n(&m, (int64_t)w->peer->epoch, (int64_t)query, (int64_t)w->read);
	message_text(&m, str_of(w->peer->name));
	message_text(&m, str_of(w->peer->tenant));
	put(to, scratch, &m);
}

static void put_query(struct buf *to, struct buf *scratch, struct hubquery *s)
{
	struct message m = { .kind = MESSAGE_QUERY };
	struct buf bytes = { 0 };

	message_n(&m, (int64_t)s->id, s->until_ns, (int64_t)s->owner, s->is_from_parent,
		  (int64_t)s->nr_rows, s->told_ns, (int64_t)s->result, s->why_ending != NULL);
	message_text(&m, str_of(s->text));
	message_text(&m, str_of(s->tracepoints));
	message_text(&m, str_of(s->tenant));
	message_text(&m, str_of(s->operator_name));
	put(to, scratch, &m);
	partial_pack(&bytes, &s->whole);
	put_part(to, scratch, s->id, PART_WHOLE, 0, 0, 0, buf_str(&bytes));
	vec_each (&s->windows, w) {
		buf_clear(&bytes);
		partial_pack(&bytes, &w->seen);
		put_part(to, scratch, s->id, PART_WINDOW, 0, w->from_ns, w->until_ns,
			 buf_str(&bytes));
	}
	buf_done(&bytes);
	vec_each (&s->kept, k)
		put_kept(to, scratch, s->id, k);
	vec_each (&s->watchers, w)
		put_watcher(to, scratch, s->id, w);
}

static void put_seen(struct buf *to, struct buf *scratch, const struct hub_peer *p,
		     const struct seen *seen)
{
	struct message m = { .kind = MESSAGE_HELLO };

	message_n(&m, p->role, (int64_t)seen->epoch, (int64_t)seen->top, (int64_t)seen->mask,
		  (int64_t)seen->nr_missing, p->has_left || p->is_dead);
	message_text(&m, str_of(p->name));
	put(to, scratch, &m);
}

/* The newest epoch last; one that has not reported yet may have something to tell, too. */
static void put_peer(struct buf *to, struct buf *scratch, const struct hub_peer *p)
{
	for (size_t i = HUB_EPOCHS; i-- > 0;)
		if (p->seen[i].top)
			put_seen(to, scratch, p, &p->seen[i]);
	if (p->role != BUS_OPERATOR && p->seen[0].epoch != p->epoch)
		put_seen(to, scratch, p, &(struct seen){ .epoch = p->epoch });
}

static void put_all(struct bus_hub *h, struct buf *to)
{
	struct message head = { .kind = MESSAGE_WELCOME };
	struct buf scratch = { 0 };
	uint64_t sum;

	message_n(&head, (int64_t)h->epoch, h->parent ? (int64_t)h->parent->outbox.next_seq : 1);
	message_text(&head, str_of(h->name));
	put(to, &scratch, &head);
	vec_each (&h->queries, s)
		put_query(to, &scratch, *s);
	vec_each (&h->peers, p)
		put_peer(to, &scratch, *p);
	if (h->parent)
		vec_each (&h->parent->outbox.v, one)
			put_part(to, &scratch, one->query, PART_OUTGOING, one->seq, one->from_ns,
				 one->until_ns, buf_str(&one->bytes));
	sum = str_hash(buf_str(to));
	buf_add(to, (struct str){ (const char *)&sum, sizeof(sum) });
	buf_done(&scratch);
}

static int write_all(int fd, struct str bytes)
{
	while (bytes.n) {
		ssize_t n = write(fd, bytes.p, bytes.n);

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			bytes = str_skip(bytes, (size_t)n);
	}
	return 0;
}

/* On the disk, so that it outlives the machine's power, too; how often it is saved is measured by
 * what that takes. */
static int replace(int fd, const char *beside, const char *path, const char *folder)
{
	cleanup(close_fd) int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0 || fdatasync(fd) < 0 || rename(beside, path) < 0 || fsync(dir) < 0)
		return -errno;
	return 0;
}

int hub_state_save(struct bus_hub *h, struct error *err)
{
	char path[PATH_ROOM], beside[PATH_ROOM];
	cleanup(close_fd) int fd = -1;
	struct buf all = { 0 };
	int r;

	snprintf(path, sizeof(path), "%s/state", h->state);
	snprintf(beside, sizeof(beside), "%s/state.new", h->state);
	fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_set(err, errno, "cannot write '%s': %s", beside, strerror(errno));
	if (h->parent)
		outbox_number(&h->parent->outbox);
	put_all(h, &all);
	r = write_all(fd, buf_str(&all));
	buf_done(&all);
	if (!r)
		r = replace(fd, beside, path, h->state);
	return r < 0 ? error_set(err, -r, "cannot write '%s': %s", path, strerror(-r)) : 0;
}

/* --- reading ------------------------------------------------------------------------------- */

static bool take_query(struct bus_hub *h, const struct message *m)
{
	struct hubquery *s;

	if (m->nr_numbers < 7 || m->nr_texts < 4 || m->t[2].n > BUS_NAME_MAX ||
	    hubquery_find(h, (uint64_t)m->n[0]) || hubquery_new(&s, m->t[0], m->t[1], NULL) < 0)
		return false;
	s->id = (uint64_t)m->n[0];
	s->until_ns = m->n[1];
	s->owner = (uint64_t)m->n[2];
	s->owner_tick = h->tick;
	s->is_from_parent = m->n[3];
	s->nr_rows = (uint64_t)m->n[4];
	s->told_ns = m->n[5];
	s->result = s->safe = (uint64_t)m->n[6];
	if (m->n[7])
		s->why_ending = "it was removed";
	snprintf(s->tenant, sizeof(s->tenant), STR_FMT, STR_ARG(m->t[2]));
	s->operator_name = hub_copied(m->t[3]);
	vec_push(&h->queries, s);
	h->counts[HUB_RESTORED]++;
	if (s->is_from_parent && h->parent)
		vec_push(&h->parent->queries, s->id);
	return true;
}

static bool take_outgoing(struct bus_hub *h, const struct message *m)
{
	struct outgoing one = { .seq = (uint64_t)m->n[2],
				.query = (uint64_t)m->n[0],
				.from_ns = m->n[3],
				.until_ns = m->n[4] };

	if (!h->parent)
		return true; /* it has none any more */
	buf_add(&one.bytes, m->t[0]);
	h->parent->outbox.bytes += one.bytes.n;
	vec_push(&h->parent->outbox.v, one);
	return true;
}

static bool take_part(struct bus_hub *h, const struct message *m)
{
	struct hubquery *s = hubquery_find(h, (uint64_t)m->n[0]);
	struct partial p;
	bool is_fine;

	if (m->n[1] == PART_OUTGOING)
		return take_outgoing(h, m);
	if (m->n[1] == PART_KEPT)
		return s && hubquery_keep_again(s, m);
	is_fine = s && partial_unpack(&p, m->t[0], NULL) == 0;
	if (!is_fine)
		return false;
	if (m->n[1] == PART_WHOLE)
		is_fine = partial_merge(&s->whole, &p, NULL) == 0;
	else if (memcmp(&p.shape, &s->shape, sizeof(s->shape)) == 0)
		hubquery_take(h, s, m->n[3], m->n[4], &p);
	else
		is_fine = false;
	partial_done(&p);
	return is_fine;
}

/* One that comes again within the time in which it is missed goes on where it was. */
static bool take_watcher(struct bus_hub *h, const struct message *m)
{
	struct hubquery *s = hubquery_find(h, (uint64_t)m->n[1]);
	struct hub_peer *p;

	if (!s || m->nr_numbers < 3 || m->nr_texts < 2 || !m->t[0].n || m->t[0].n > PEER_NAME_MAX ||
	    m->t[1].n > BUS_NAME_MAX || (uint64_t)m->n[2] > s->result)
		return false;
	p = hub_peer_make(h, BUS_OPERATOR, m->t[0], (uint64_t)m->n[0]);
	if (!p)
		return false;
	snprintf(p->tenant, sizeof(p->tenant), STR_FMT, STR_ARG(m->t[1]));
	hubquery_expect(s, p, (uint64_t)m->n[2]);
	return true;
}

static bool take_peer(struct bus_hub *h, const struct message *m)
{
	struct hub_peer *p;

	if (m->nr_numbers < 5 || m->n[0] < BUS_AGENT || m->n[0] > BUS_HUB || !m->t[0].n ||
	    m->t[0].n > PEER_NAME_MAX)
		return false;
	p = hub_peer_make(h, (enum bus_role)m->n[0], m->t[0], (uint64_t)m->n[1]);
	if (!p)
		return false;
	memmove(p->seen + 1, p->seen, (HUB_EPOCHS - 1) * sizeof(*p->seen));
	p->seen[0] = (struct seen){ .epoch = (uint64_t)m->n[1],
				    .top = (uint64_t)m->n[2],
				    .mask = (uint64_t)m->n[3],
				    .nr_missing = (uint64_t)m->n[4] };
	p->epoch = p->seen[0].epoch;
	p->safe = seen_upto(&p->seen[0]);
	p->has_left = m->n[5];
	p->is_awaited = !p->has_left;
	return true;
}

static bool take_head(struct bus_hub *h, const struct message *m)
{
	if (m->nr_numbers < 2)
		return false;
	h->epoch = (uint64_t)m->n[0];
	if (h->parent) {
		h->parent->outbox.epoch = h->epoch;
		h->parent->outbox.next_seq = (uint64_t)m->n[1];
	}
	return true;
}

static bool take_one(struct bus_hub *h, const struct message *m)
{
	switch (m->kind) {
	case MESSAGE_WELCOME:
		return take_head(h, m);
	case MESSAGE_QUERY:
		return take_query(h, m);
	case MESSAGE_REPORT:
		return take_part(h, m);
	case MESSAGE_HELLO:
		return take_peer(h, m);
	case MESSAGE_WATCH:
		return take_watcher(h, m);
	default:
		return false;
	}
}

int hub_state_read(struct bus_hub *h, struct str bytes, struct error *err)
{
	struct str one;
	struct message m;

	while (bytes.n)
		if (!str_take_bytes(&bytes, &one) || !message_unpack(&m, one) || !take_one(h, &m))
			return error_set(err, EBADMSG, "the state of the hub makes no sense");
	/* who has ended a query that is removed already says so again */
	vec_each (&h->queries, s)
		if ((*s)->why_ending)
			hubquery_await(h, *s);
	return 0;
}

static int check_and_read(struct bus_hub *h, struct str bytes, const char *path, struct error *err)
{
	uint64_t sum;
	int r;

	if (bytes.n < sizeof(sum))
		return error_set(err, EBADMSG, "'%s' is damaged; move it away to begin anew", path);
	memcpy(&sum, bytes.p + bytes.n - sizeof(sum), sizeof(sum));
	bytes = str_head(bytes, bytes.n - sizeof(sum));
	if (sum != str_hash(bytes))
		return error_set(err, EBADMSG, "'%s' is damaged; move it away to begin anew", path);
	r = hub_state_read(h, bytes, err);
	return r < 0 ? error_prefix(err, "'%s'", path) : 0;
}

int hub_state_load(struct bus_hub *h, struct error *err)
{
	char path[PATH_ROOM];
	cleanup(close_fd) int fd = -1;
	struct buf all = { 0 };
	ssize_t n = 1;
	int r = 0;

	if (!h->state)
		return 0;
	snprintf(path, sizeof(path), "%s/state", h->state);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0
				       : error_set(err, errno, "cannot read '%s': %s", path,
						   strerror(errno));
	while (n > 0 && all.n < STATE_MAX) {
		n = read(fd, buf_room(&all, 1 << 20), 1 << 20);
		all.n += n > 0 ? (size_t)n : 0;
	}
	if (n < 0)
		r = error_set(err, errno, "cannot read '%s': %s", path, strerror(errno));
	if (!r)
		r = check_and_read(h, buf_str(&all), path, err);
	buf_done(&all);
	return r;
}
