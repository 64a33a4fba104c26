/*
 * The parts of the kernel's types that our programs look at. libbpf moves every access to where the
 * running kernel has the field (CO-RE), so that order and size here do not matter, only names.
 */
#ifndef CULPRIT_CAPTURE_BPF_KERNEL_H
#define CULPRIT_CAPTURE_BPF_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#define __VMLINUX_H__ /* bpf_tracing.h: registers have the kernel's names */

/* bpf_helpers.h wants these names */
typedef uint8_t __u8;
typedef uint16_t __u16;
typedef uint32_t __u32;
typedef uint64_t __u64;
typedef int16_t __s16;
typedef int32_t __s32;
typedef int64_t __s64;
typedef uint16_t __be16;
typedef uint32_t __be32;
typedef uint32_t __wsum;

enum bpf_map_type {
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_TASK_STORAGE = 29,
};

enum {
	BPF_F_NO_PREALLOC = 1,
	BPF_LOCAL_STORAGE_GET_F_CREATE = 1,
	BPF_RB_NO_WAKEUP = 1,
	BPF_RB_FORCE_WAKEUP = 2,
	BPF_RB_AVAIL_DATA = 0,
};

#define FAMILY_UNIX 1
#define FAMILY_IPV4 2
#define FAMILY_IPV6 10
#define TYPE_STREAM 1
#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
#define STATE_ESTABLISHED 1
#define STATE_SYN_SENT 2
#define STATE_SYN_RECV 3
#define STATE_CLOSE 7
#define MODE_KIND 0170000
#define MODE_SOCKET 0140000

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_x86)
struct pt_regs {
	unsigned long di, si, dx, cx, r10, r8, r9, ax, orig_ax, ip;
	unsigned long bx, bp, sp, r11, r12, r13, r14, r15;
};

struct thread_struct {
	unsigned long fsbase;
};

struct thread_info {
	__u32 status;
};
#define THREAD_POINTER(task) ((task)->thread.fsbase)
#define IS_32_BIT(task) ((task)->thread_info.status & 2)
#define SIXTH_ARGUMENT(regs) BPF_CORE_READ(regs, r9)
#define CALL_NUMBER(regs) BPF_CORE_READ(regs, orig_ax)
#elif defined(__TARGET_ARCH_arm64)
#define CALL_NUMBER(regs) BPF_CORE_READ(regs, syscallno)
#define SIXTH_ARGUMENT(regs) BPF_CORE_READ((struct user_pt_regs *)(regs), regs[5])
struct user_pt_regs {
	__u64 regs[31], sp, pc, pstate;
};

struct thread_fields {
	unsigned long tp_value;
};

struct thread_struct {
	struct thread_fields uw;
};

struct thread_info {
	unsigned long flags;
};
#define THREAD_POINTER(task) ((task)->thread.uw.tp_value)
#define IS_32_BIT(task) ((task)->thread_info.flags & 1 << 22)
struct pt_regs {
	__u64 regs[31], sp, pc, pstate, orig_x0;
	__s32 syscallno;
};
#endif

struct inode {
	unsigned short i_mode;
};

struct file {
	struct inode *f_inode;
	void *private_data;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct task_struct {
	struct thread_info thread_info;
	struct thread_struct thread;
	struct pid *thread_pid;
	int pid, tgid;
	unsigned int flags;
	char comm[16];
	struct task_struct *group_leader;
	struct files_struct *files;
	unsigned in_iowait : 1;
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
};

struct in6_addr {
	union {
		__u8 u6_addr8[16];
	} in6_u;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct sock_common {
	union {
		struct {
			__be32 skc_daddr, skc_rcv_saddr;
		};
	};
	union {
		struct {
			__be16 skc_dport;
		};
	};
	unsigned short skc_family;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	__u16 sk_protocol, sk_type;
};

struct inet_sock {
	__be16 inet_sport;
};

struct socket {
	struct sock *sk;
};

struct tcp_sock {
	__u32 copied_seq, write_seq;
};

struct unix_address {
	int len;
};

struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
};

#pragma clang attribute pop

/* What programs hand to system calls: fixed for ever. */
struct user_vector {
	__u64 base, bytes;
};

struct user_message {
	__u64 name;
	__u32 name_bytes, pad;
	__u64 vectors, nr_vectors;
	__u64 control, control_bytes;
	__u32 flags, pad_end;
};

struct user_messages {
	struct user_message message;
	__u32 bytes, pad;
};

struct user_address {
	__u16 family;
	__be16 port;
	union {
		struct {
			__be32 v4;
		};
		struct {
			__u32 flow;
			__u8 v6[16];
		};
	};
};

#endif
