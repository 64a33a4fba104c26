/*
 * Code that a thread of a stranger runs for us: system calls from a list, and then on with what it
 * did before. The stack pointer stands on the list, which holds the thread's own registers, too
 * (struct borrowed in tracee.c), so that the thread finds its way back when we are gone.
 */
	.section .rodata
	.p2align 4
	.globl probe_borrow
	.globl probe_borrow_end
	.hidden probe_borrow
	.hidden probe_borrow_end
probe_borrow:
	mov	%rsp, %rbx
	lea	8(%rbx), %rbp
1:	cmpq	$0, (%rbx)
	je	2f
	mov	(%rbp), %rax
	mov	8(%rbp), %rdi
	mov	16(%rbp), %rsi
	mov	24(%rbp), %rdx
	mov	32(%rbp), %r10
	mov	40(%rbp), %r8
	mov	48(%rbp), %r9
	syscall
	add	$56, %rbp
	decq	(%rbx)
	jmp	1b
2:	lea	8 + 8 * 56(%rbx), %rsp
	pop	%r15
	pop	%r14
	pop	%r13
	pop	%r12
	pop	%rbp
	pop	%rbx
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rax
	pop	%rcx
	pop	%rdx
	pop	%rsi
	pop	%rdi
	popfq
	pop	%rsp
	ret	$128
probe_borrow_end:
	.section .note.GNU-stack, "", @progbits
