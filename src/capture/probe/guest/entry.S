/*
 * Where a watched function begins and ends. It runs in a stranger's process: no register but the
 * flags is changed, no stack below the red zone is relied on, nothing is called but guest.c.
 *
 * enter: called by a function's stub, which has pushed what the function is.
 * leave: what a watched function returns to.
 */
#define THREAD_TID 8
#define THREAD_TOP 16
#define THREAD_LIMIT 24
#define THREAD_BUSY 32
#define THREAD_RING 40
#define THREAD_HEAD 48
#define THREAD_UNWINDER 64
#define THREAD_SHIFT 7
#define THREAD_BITS 11
#define FRAME_BYTES 40
#define REGION_ALIVE 16
#define REGION_UNITS 192
#define RING_HEAD 8
#define RING_TAIL 64
#define RING_RECORDS 128
#define RING_NR 65536
#define WANT_SLOW 0x1bdb0000
#define WANT_EXITS 0x10180000
#define WANT_SLOW_EXIT 0x3c60000
#define WANT_UNIT 0x4000000

	.section .text.head, "ax", @progbits
	.globl culprit_code
	.hidden culprit_code
culprit_code:
	.quad	0x65646f6370706c63
	.quad	culprit_enter - culprit_code
	.quad	culprit_leave - culprit_code
	.quad	culprit_site - culprit_code
code_region:
	.quad	0
code_own:
	.quad	0
code_tid_offset:
	.quad	0
code_nr_rings:
	.quad	0
	.quad	culprit_advise - culprit_code
	.quad	culprit_see - culprit_code
	.quad	culprit_carry - culprit_code
	.quad	culprit_join - culprit_code
	.quad	culprit_place - culprit_code
	.quad	culprit_tell - culprit_code
	.quad	culprit_become - culprit_code

	.text
/* rcx: the thread, or go to \slow. rax is lost. */
	.macro find_thread slow
	mov	%fs:0, %rax
	mov	code_own(%rip), %rsi
	imul	$0x9e3779b1, %eax, %ecx
	shr	$(32 - THREAD_BITS), %ecx
1:	shl	$THREAD_SHIFT, %ecx
	cmp	%rax, (%rsi, %rcx)
	jne	3f
	add	%rsi, %rcx
	mov	code_tid_offset(%rip), %rax
	mov	%fs:(%rax), %eax
	cmp	%eax, THREAD_TID(%rcx)
	je	2f
	jmp	\slow
3:	cmpq	$0, (%rsi, %rcx)
	je	\slow
	shr	$THREAD_SHIFT, %ecx
	inc	%ecx
	and	$((1 << THREAD_BITS) - 1), %ecx
	jmp	1b
2:
	.endm

	.macro save_rest
	push	%rdi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%rbp
	mov	%rsp, %rbp
	and	$-16, %rsp
	cld
	.endm

	.macro restore_rest
	mov	%rbp, %rsp
	pop	%rbp
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	.endm

	.p2align 6
	.globl culprit_enter
	.hidden culprit_enter
culprit_enter:
	/* (%rsp) the stub, 8 what the function is, 16 the return address */
	push	%rax
	/* while nothing is told, a call costs next to nothing */
	mov	code_region(%rip), %rax
	testl	$WANT_UNIT, 16(%rsp)
	jnz	enter_unit
enter_counted:
	cmpq	$0, REGION_ALIVE(%rax)
	je	enter_paused
enter_told:
	push	%rcx
	push	%rdx
	push	%rsi
	testl	$WANT_SLOW, 40(%rsp)
	jnz	enter_slow
	find_thread enter_slow
	cmpq	$0, THREAD_BUSY(%rcx)
	jne	enter_slow
	lea	48(%rsp), %rdx
	mov	THREAD_TOP(%rcx), %rsi
	cmpq	$0, THREAD_UNWINDER(%rcx)
	jne	enter_slow
	cmp	THREAD_LIMIT(%rcx), %rsi
	jae	enter_slow
	/* the frame before must be further up the stack */
	cmp	%rdx, -FRAME_BYTES(%rsi)
	jbe	enter_slow
	mov	%rdx, THREAD_BUSY(%rcx)
	mov	%rdx, (%rsi)
	mov	(%rdx), %rax
	mov	%rax, 8(%rsi)
	mov	40(%rsp), %rax
	mov	%rax, 24(%rsi)
	rdtsc
	shl	$32, %rdx
	or	%rdx, %rax
	mov	code_region(%rip), %rdx
	cmp	%rax, REGION_ALIVE(%rdx)
	jb	enter_dead
	mov	%rax, 16(%rsi)
	lea	culprit_leave(%rip), %rax
	mov	%rax, 48(%rsp)
	add	$FRAME_BYTES, %rsi
	mov	%rsi, THREAD_TOP(%rcx)
enter_dead:
	movq	$0, THREAD_BUSY(%rcx)
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	ret

enter_unit:
	lock incq REGION_UNITS(%rax)
	jmp	enter_counted

enter_paused:
	/* who looks at return addresses must find its own, whether anything is told or not; and who
	 * is to wait does so before anything is */
	testl	$WANT_EXITS, 16(%rsp)
	jnz	enter_told
	pop	%rax
	ret

enter_slow:
	save_rest
	/* the six registers of arguments lie where they were saved: told as an array by guest.c */
	lea	0(%rbp), %rdi
	call	culprit_enter_slow
	restore_rest
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	ret

	.p2align 6
	.globl culprit_leave
	.hidden culprit_leave
culprit_leave:
	lea	-8(%rsp), %rsp
	push	%rax
	push	%rcx
	push	%rdx
	push	%rsi
	push	%rdi
	rdtsc
	shl	$32, %rdx
	or	%rax, %rdx
	find_thread leave_slow
	cmpq	$0, THREAD_BUSY(%rcx)
	jne	leave_slow
	cmpq	$0, THREAD_UNWINDER(%rcx)
	jne	leave_slow
	mov	THREAD_TOP(%rcx), %rsi
	lea	40(%rsp), %rax
	sub	$FRAME_BYTES, %rsi
	cmp	%rax, (%rsi)
	jne	leave_slow
	testl	$WANT_SLOW_EXIT, 24(%rsi)
	jnz	leave_slow
	mov	%rax, THREAD_BUSY(%rcx)
	mov	8(%rsi), %rdi
	mov	%rdi, (%rax)
	shl	$16, %rdi
	movzwl	24(%rsi), %eax
	or	%rax, %rdi
	/* rdx the end, rdi what and where from */
	mov	16(%rsi), %rax
	mov	%rsi, THREAD_TOP(%rcx)
	mov	THREAD_RING(%rcx), %rsi
	test	%rsi, %rsi
	jz	leave_done
	/* rax the start; the place of the record into rcx's stead after the head is read */
	push	%rcx
	mov	THREAD_HEAD(%rcx), %rcx
	push	%rcx
	sub	RING_TAIL(%rsi), %rcx
	cmp	$RING_NR, %rcx
	pop	%rcx
	jae	leave_full
	push	%rcx
	and	$(RING_NR - 1), %ecx
	lea	(%rcx, %rcx, 2), %rcx
	mov	%rax, RING_RECORDS(%rsi, %rcx, 8)
	mov	%rdx, RING_RECORDS + 8(%rsi, %rcx, 8)
	mov	%rdi, RING_RECORDS + 16(%rsi, %rcx, 8)
	pop	%rax
	inc	%rax
	pop	%rcx
	mov	%rax, THREAD_HEAD(%rcx)
	mov	%rax, RING_HEAD(%rsi)
leave_done:
	movq	$0, THREAD_BUSY(%rcx)
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	lea	8(%rsp), %rsp
	/* below the stack pointer, but within the red zone; a return would be foretold wrongly */
	jmp	*-8(%rsp)

leave_full:
	incq	16(%rsi)
	pop	%rcx
	jmp	leave_done

leave_slow:
	mov	%rsp, %rsi
	push	%r8
	push	%r9
	push	%r10
	push	%r11
	push	%rbp
	mov	%rsp, %rbp
	and	$-16, %rsp
	cld
	/* the third is rdx, the end */
	lea	40(%rsi), %rdi
	mov	32(%rsi), %rsi
	call	culprit_leave_slow
	mov	%rbp, %rsp
	pop	%rbp
	pop	%r11
	pop	%r10
	pop	%r9
	pop	%r8
	pop	%rdi
	pop	%rsi
	pop	%rdx
	pop	%rcx
	pop	%rax
	lea	8(%rsp), %rsp
	jmp	*-8(%rsp)

/* In the middle of a function: called by the stub of a static probe, which has left the red zone
 * alone, and pushed the flags and what it is. All registers, in the order of DWARF's numbers. */
	.globl culprit_site
	.hidden culprit_site
culprit_site:
	push	%r15
	push	%r14
	push	%r13
	push	%r12
	push	%r11
	push	%r10
	push	%r9
	push	%r8
	lea	64 + 24 + 128(%rsp), %r8
	push	%r8
	push	%rbp
	push	%rdi
	push	%rsi
	push	%rbx
	push	%rcx
	push	%rdx
	push	%rax
	mov	%rsp, %rdi
	mov	128 + 8(%rsp), %rsi
	mov	%rsp, %rbp
	and	$-16, %rsp
	cld
	call	culprit_site_slow
	mov	%rbp, %rsp
	pop	%rax
	pop	%rdx
	pop	%rcx
	pop	%rbx
	pop	%rsi
	pop	%rdi
	pop	%rbp
	lea	8(%rsp), %rsp
	pop	%r8
	pop	%r9
	pop	%r10
	pop	%r11
	pop	%r12
	pop	%r13
	pop	%r14
	pop	%r15
	ret

	.section .note.GNU-stack, "", @progbits
