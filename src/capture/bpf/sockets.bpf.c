/*
 * Watches what programs send and receive on sockets: system calls at their entry and exit, and TCP
 * connections as they open and close. Only reads; keeps a note of the call that a thread is in, and
 * drops, counted, what the tool does not fetch in time.
 *
 * A message that goes by io_uring makes no system call and is not seen.
 */
#include "capture/bpf/kernel.h"

#include <bpf/bpf_helpers.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>

#include "wire/socket_calls.h"
#include "wire/socket_record.h"

#define VECTORS_MAX 8
#define MESSAGES_MAX 8

const volatile uint8_t form_of_call[SOCKETS_CALLS_MAX];
const volatile uint32_t own_tgid, only_tgid;
const volatile uint64_t wake_bytes;

uint64_t nr_dropped;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, SOCKETS_RING_BYTES);
} records SEC(".maps");

/* The system call that a thread is in. */
struct call {
	uint64_t ns;
	struct sock *sk; /* NULL: in none that matters */
	uint64_t buffer; /* bytes, vectors, one or several messages: as the form says */
	uint64_t nr;
	uint64_t name; /* where the other end's address is, or NULL */
	uint32_t seq, ack;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct call);
} calls SEC(".maps");

/* The payload has room for a piece that begins at its last byte: what the verifier can follow. */
struct draft {
	struct socket_record record;
	uint8_t payload[2 * SOCKET_PAYLOAD_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct draft);
} drafts SEC(".maps");

/* Of files that are no sockets there are many more: they are told with the fewest reads. */
static __always_inline struct sock *sock_of(struct task_struct *task, uint64_t fd)
{
	struct fdtable *table = task->files->fdt;
	struct file *file = NULL;
	struct socket *socket;

	if (fd >= table->max_fds)
		return NULL;
	bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd);
	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & MODE_KIND) != MODE_SOCKET)
		return NULL;
	socket = BPF_CORE_READ(file, private_data);
	return BPF_CORE_READ(socket, sk);
}

static __always_inline uint8_t kind_of(struct sock *sk)
{
	uint16_t family = BPF_CORE_READ(sk, __sk_common.skc_family);
	uint16_t protocol = BPF_CORE_READ(sk, sk_protocol);

	if (family == FAMILY_UNIX)
		return BPF_CORE_READ(sk, sk_type) == TYPE_STREAM ? SOCKET_UNIX : 0;
	if (family != FAMILY_IPV4 && family != FAMILY_IPV6)
		return 0;
	return protocol == PROTOCOL_TCP ? SOCKET_TCP : protocol == PROTOCOL_UDP ? SOCKET_UDP : 0;
}

static __always_inline bool is_watched(uint32_t tgid)
{
	return tgid != own_tgid && (!only_tgid || tgid == only_tgid);
}

static __always_inline uint8_t form_of(long id)
{
	return id >= 0 && id < SOCKETS_CALLS_MAX ? form_of_call[id] : 0;
}

static __always_inline bool is_send(uint8_t form)
{
	return form & SOCKETS_SENDS;
}

static __always_inline void note_call(struct call *call, struct pt_regs *regs, uint8_t form,
				      struct sock *sk)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;

	call->ns = bpf_ktime_get_ns();
	call->sk = sk;
	call->buffer = PT_REGS_PARM2_CORE_SYSCALL(regs);
	call->nr = PT_REGS_PARM3_CORE_SYSCALL(regs);
	call->name = 0;
	if ((form & SOCKETS_FORM) == SOCKETS_NAMED)
		call->name = PT_REGS_PARM5_CORE_SYSCALL(regs);
	if (kind_of(sk) != SOCKET_TCP)
		return;
	call->seq = is_send(form) ? BPF_CORE_READ(tcp, write_seq) : BPF_CORE_READ(tcp, copied_seq);
	call->ack = is_send(form) ? BPF_CORE_READ(tcp, copied_seq) : BPF_CORE_READ(tcp, write_seq);
}

/* The socket that the call is about, if it is one that we watch. */
static __always_inline struct sock *watched_sock(struct task_struct *task, struct pt_regs *regs,
						 uint8_t form)
{
	struct sock *sk = sock_of(task, PT_REGS_PARM1_CORE_SYSCALL(regs));
	uint8_t kind = sk ? kind_of(sk) : 0;

	/* of a UNIX socket the sender is always on this machine, too */
	return kind && (kind != SOCKET_UNIX || is_send(form)) ? sk : NULL;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(enter_call, struct pt_regs *regs, long id)
{
	uint8_t form = form_of(id);
	struct task_struct *task;
	struct call *call;
	struct sock *sk;

	if (!form)
		return 0;
	task = bpf_get_current_task_btf();
	if (!is_watched(task->tgid))
		return 0;
	/* made for what is no socket, too: where there is none, the entry was not seen */
	call = bpf_task_storage_get(&calls, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!call) {
		__sync_fetch_and_add(&nr_dropped, 1);
		return 0;
	}
	sk = watched_sock(task, regs, form);
	if (sk)
		note_call(call, regs, form, sk);
	return 0;
}

static __always_inline void map_ipv4(uint8_t to[16], __be32 address)
{
	__builtin_memset(to, 0, 16);
	to[10] = to[11] = 0xff;
	__builtin_memcpy(to + 12, &address, 4);
}

static __always_inline void fill_unix_ends(struct socket_record *r, struct sock *sk)
{
	struct unix_sock *u = (struct unix_sock *)sk;
	struct sock *peer = BPF_CORE_READ(u, peer);

	__builtin_memset(r->local, 0, sizeof(r->local));
	__builtin_memset(r->remote, 0, sizeof(r->remote));
	__builtin_memcpy(r->local + 8, &sk, sizeof(sk));
	__builtin_memcpy(r->remote + 8, &peer, sizeof(peer));
	r->local_port = r->remote_port = 0;
	if (BPF_CORE_READ(u, addr))
		r->flags |= SOCKET_LISTENS;
}

static __always_inline void fill_ends(struct socket_record *r, struct sock *sk, uint8_t kind)
{
	struct inet_sock *inet = (struct inet_sock *)sk;

	r->kind = kind;
	r->flags = 0;
	r->netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	if (kind == SOCKET_UNIX) {
		fill_unix_ends(r, sk);
		return;
	}
	/* skc_num is gone when a connection closes */
	r->local_port = bpf_ntohs(BPF_CORE_READ(inet, inet_sport));
	r->remote_port = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
	if (BPF_CORE_READ(sk, __sk_common.skc_family) == FAMILY_IPV4) {
		map_ipv4(r->local, BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr));
		map_ipv4(r->remote, BPF_CORE_READ(sk, __sk_common.skc_daddr));
	} else {
		BPF_CORE_READ_INTO(&r->local, sk, __sk_common.skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&r->remote, sk, __sk_common.skc_v6_daddr);
	}
}

/* Where a datagram goes to or comes from, when the socket is not tied to one end. */
static __always_inline void fill_remote(struct socket_record *r, uint64_t name)
{
	struct user_address a = { 0 };

	if (r->remote_port || !name || bpf_probe_read_user(&a, sizeof(a), (void *)name))
		return;
	r->remote_port = bpf_ntohs(a.port);
	if (a.family == FAMILY_IPV4)
		map_ipv4(r->remote, a.v4);
	else if (a.family == FAMILY_IPV6)
		__builtin_memcpy(r->remote, a.v6, sizeof(a.v6));
	else
		r->remote_port = 0;
}

static __always_inline void fill_process(struct socket_record *r, struct task_struct *task)
{
	r->tgid = task->tgid;
	r->tid = task->pid;
	bpf_probe_read_kernel(r->process, sizeof(r->process), &task->group_leader->comm);
}

static __always_inline void send_draft(struct draft *d)
{
	uint64_t size =
		sizeof(d->record) + (d->record.payload_bytes & (2 * SOCKET_PAYLOAD_MAX - 1));
	uint64_t waiting = bpf_ringbuf_query(&records, BPF_RB_AVAIL_DATA);

	/* the tool comes by itself; it is called only when much is waiting */
	if (bpf_ringbuf_output(&records, d, size,
			       waiting > wake_bytes ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP))
		__sync_fetch_and_add(&nr_dropped, 1);
}

/* Adds a piece to the payload, which is to have want bytes in all; false when it is full. */
static __always_inline bool add_piece(struct draft *d, uint64_t from, uint64_t bytes, uint32_t want)
{
	uint32_t have = d->record.payload_bytes;
	uint64_t n;

	if (have >= want || have >= SOCKET_PAYLOAD_MAX)
		return false;
	n = want - have;
	if (n > bytes)
		n = bytes;
	if (n > SOCKET_PAYLOAD_MAX)
		n = SOCKET_PAYLOAD_MAX;
	if (n && bpf_probe_read_user(&d->payload[have], n, (void *)from))
		return false;
	d->record.payload_bytes = have + n;
	return true;
}

static __always_inline void add_vectors(struct draft *d, uint64_t vectors, uint64_t nr,
					uint32_t want)
{
	struct user_vector v;

	for (uint32_t i = 0; i < VECTORS_MAX && i < nr; i++) {
		if (bpf_probe_read_user(&v, sizeof(v), (void *)(vectors + i * sizeof(v))))
			return;
		if (!add_piece(d, v.base, v.bytes, want))
			return;
	}
}

static __always_inline uint32_t wanted(const struct socket_record *r)
{
	return r->bytes < SOCKET_PAYLOAD_MAX ? r->bytes : SOCKET_PAYLOAD_MAX;
}

/* The messages of sendmmsg and recvmmsg, one record each. */
static __always_inline void send_several(struct draft *d, struct call *call, uint64_t nr)
{
	struct user_messages m;

	for (uint32_t i = 0; i < MESSAGES_MAX && i < nr; i++) {
		if (bpf_probe_read_user(&m, sizeof(m), (void *)(call->buffer + i * sizeof(m))))
			return;
		d->record.bytes = m.bytes;
		d->record.payload_bytes = 0;
		if (d->record.kind == SOCKET_UDP && call->sk)
			fill_ends(&d->record, call->sk, SOCKET_UDP);
		fill_remote(&d->record, m.message.name);
		add_vectors(d, m.message.vectors, m.message.nr_vectors, wanted(&d->record));
		send_draft(d);
		d->record.seq += m.bytes;
	}
}

static __always_inline void add_payload(struct draft *d, struct call *call, uint8_t form)
{
	struct user_message m;

	switch (form & SOCKETS_FORM) {
	case SOCKETS_NAMED:
		fill_remote(&d->record, call->name);
		/* fallthrough */
	case SOCKETS_BYTES:
		add_piece(d, call->buffer, d->record.bytes, wanted(&d->record));
		break;
	case SOCKETS_VECTORS:
		add_vectors(d, call->buffer, call->nr, wanted(&d->record));
		break;
	case SOCKETS_MESSAGE:
		if (bpf_probe_read_user(&m, sizeof(m), (void *)call->buffer))
			break;
		fill_remote(&d->record, m.name);
		add_vectors(d, m.vectors, m.nr_vectors, wanted(&d->record));
		break;
	}
}

/*
 * How many bytes went by. A look that leaves them there (MSG_PEEK) moves no number of TCP; the end
 * of the stream moves it by one more than there are bytes.
 */
static __always_inline uint32_t bytes_of(struct call *call, uint8_t kind, uint8_t form, long result)
{
	struct tcp_sock *sk = (struct tcp_sock *)call->sk;
	uint32_t moved;

	if (kind != SOCKET_TCP || is_send(form))
		return result;
	moved = BPF_CORE_READ(sk, copied_seq) - call->seq;
	return moved < result ? moved : result;
}

static __always_inline void tell_call(struct task_struct *task, struct call *call, uint8_t form,
				      long result)
{
	struct sock *sk = call->sk;
	uint8_t kind = kind_of(sk);
	uint32_t zero = 0;
	struct draft *d = bpf_map_lookup_elem(&drafts, &zero);

	if (!d || !kind)
		return;
	d->record.ns = is_send(form) ? call->ns : bpf_ktime_get_ns();
	d->record.act = is_send(form) ? SOCKET_SEND : SOCKET_RECEIVE;
	d->record.seq = call->seq;
	d->record.ack = call->ack;
	d->record.payload_bytes = 0;
	fill_ends(&d->record, sk, kind);
	fill_process(&d->record, task);
	if ((form & SOCKETS_FORM) == SOCKETS_SEVERAL) {
		send_several(d, call, result);
		return;
	}
	d->record.bytes = bytes_of(call, kind, form, result);
	if (!d->record.bytes)
		return;
	add_payload(d, call, form);
	send_draft(d);
}

/* A thread that waited for a message when we came: the registers still tell what it asked for. */
static __always_inline void tell_waiting(struct task_struct *task, struct pt_regs *regs,
					 uint8_t form, long result)
{
	struct call call = { 0 };
	struct sock *sk;

	if (is_send(form) || !is_watched(task->tgid))
		return;
	sk = watched_sock(task, regs, form);
	if (!sk)
		return;
	note_call(&call, regs, form, sk);
	call.seq -= result;
	tell_call(task, &call, form, result);
}

SEC("tp_btf/sys_exit")
int BPF_PROG(exit_call, struct pt_regs *regs, long result)
{
	struct task_struct *task;
	struct call *call;
	uint8_t form;

	form = form_of(CALL_NUMBER(regs));
	if (!form)
		return 0;
	task = bpf_get_current_task_btf();
	call = bpf_task_storage_get(&calls, task, 0, 0);
	if (!call && result > 0) {
		tell_waiting(task, regs, form, result);
		return 0;
	}
	if (!call || !call->sk)
		return 0;
	if (result > 0)
		tell_call(task, call, form, result);
	call->sk = NULL;
	return 0;
}

/* Runs in whatever process the packet came in on, so that it says nothing of processes. */
SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(change_state, struct sock *sk, int before, int after)
{
	struct socket_record *r;
	uint8_t act;

	if (sk->sk_protocol != PROTOCOL_TCP)
		return 0;
	if (after == STATE_ESTABLISHED && before == STATE_SYN_SENT)
		act = SOCKET_CONNECTED;
	else if (after == STATE_ESTABLISHED && before == STATE_SYN_RECV)
		act = SOCKET_ACCEPTED;
	else if (after == STATE_CLOSE && before != STATE_SYN_SENT && before != STATE_CLOSE)
		act = SOCKET_CLOSED;
	else
		return 0;
	r = bpf_ringbuf_reserve(&records, sizeof(*r), 0);
	if (!r) {
		__sync_fetch_and_add(&nr_dropped, 1);
		return 0;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->ns = bpf_ktime_get_ns();
	r->act = act;
	fill_ends(r, sk, SOCKET_TCP);
	r->seq = BPF_CORE_READ((struct tcp_sock *)sk, write_seq);
	r->ack = BPF_CORE_READ((struct tcp_sock *)sk, copied_seq);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
	return 0;
}

char sockets_license[] SEC("license") = "Dual BSD/GPL";
