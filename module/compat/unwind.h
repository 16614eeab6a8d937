/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's own unwinder, frame by frame, with the place on the stack of
 * each return address. stack_trace_save() gives addresses only, and the memo
 * of module/site.c lives on distances.
 *
 * The unwinders take no lock and allocate nothing; they may be called with
 * the run-queue lock held.
 */
#ifndef _WAITPROF_COMPAT_UNWIND_H
#define _WAITPROF_COMPAT_UNWIND_H

#include <linux/ptrace.h>
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
#include <linux/rethook.h>
#endif
#include <linux/sched.h>
#include <asm/unwind.h>
#include "compat/version.h"

/**
 * struct waitprof_unwind - where an unwinding stands
 * @st: the kernel's state
 */
struct waitprof_unwind {
	struct unwind_state st;
};

/**
 * waitprof_unwind_slot() - where the return address of this frame lies
 * @u: the unwinding
 *
 * Return: its place on the stack; NULL at the end and in a frame that was
 * entered by an exception, which has none.
 */
static inline unsigned long *waitprof_unwind_slot(struct waitprof_unwind *u)
{
	if (unwind_done(&u->st) || u->st.regs)
		return NULL;
	return u->st.sp ? (unsigned long *)u->st.sp - 1 : NULL;
}

/**
 * waitprof_unwind_ra() - the return address of this frame
 * @u: the unwinding
 *
 * Return: the address, the real one where a tracer has put its trampoline in
 * its place; 0 at the end.
 */
static inline unsigned long waitprof_unwind_ra(struct waitprof_unwind *u)
{
	return unwind_get_return_address(&u->st);
}

/**
 * waitprof_unwind_bp() - the frame pointer register of the function that this
 * frame's return address lies in
 * @u: the unwinding; it has a slot
 */
static inline unsigned long *waitprof_unwind_bp(struct waitprof_unwind *u)
{
	return (unsigned long *)u->st.bp;
}

/**
 * waitprof_unwind_text() - may a word be a return address?
 * @word: read from a stack
 *
 * x86-64 has the kernel and its modules in the highest 2 GiB, and there neither
 * stacks nor memory of slab or pages.
 */
static inline bool waitprof_unwind_text(unsigned long word)
{
	return word >= __START_KERNEL_map;
}

/**
 * waitprof_unwind_next() - go to the caller's frame
 * @u: the unwinding
 */
static inline void waitprof_unwind_next(struct waitprof_unwind *u)
{
	unwind_next_frame(&u->st);
}

/**
 * waitprof_unwind_here() - start on the running task's own stack
 * @u: the unwinding
 * @slot: the place of the return address to start at
 *
 * Return: whether that place was found.
 */
static inline bool waitprof_unwind_here(struct waitprof_unwind *u,
					unsigned long *slot)
{
	/* Kernels differ in whether this stops at @slot or one after it, so
	 * the last steps are ours.
	 */
	__unwind_start(&u->st, current, NULL, slot - 1);
	while (!unwind_done(&u->st) && waitprof_unwind_slot(u) < slot)
		unwind_next_frame(&u->st);
	return waitprof_unwind_slot(u) == slot;
}

/**
 * waitprof_unwind_regs() - start at the entry of a function
 * @u: the unwinding
 * @ip: where the entry is
 * @regs: the registers there
 *
 * The first frame is that of the function's caller. @regs->ip cannot be used:
 * what it says depends on how the probe was reached (int3, ftrace, jump).
 *
 * Return: whether there is a first frame.
 */
static inline bool waitprof_unwind_regs(struct waitprof_unwind *u,
					unsigned long ip, struct pt_regs *regs)
{
	unsigned long saved = instruction_pointer(regs);

	instruction_pointer_set(regs, ip);
	__unwind_start(&u->st, current, regs, NULL);
	instruction_pointer_set(regs, saved);
	return !unwind_done(&u->st);
}

/**
 * waitprof_unwind_task() - start in a task that is off its CPU
 * @u: the unwinding
 * @t: the task; its pi_lock is held, so that it cannot wake
 *
 * Return: whether there is a first frame.
 */
static inline bool waitprof_unwind_task(struct waitprof_unwind *u,
					struct task_struct *t)
{
	unwind_start(&u->st, t, NULL, NULL);
	return !unwind_done(&u->st);
}

/**
 * waitprof_hidden_ra() - the return address that a return probe has replaced
 * @slot: its place, on the running task's stack
 *
 * The kernel's own look-up is not exported. Return probes are kept so where
 * they are rethooks (5.18, 54ecbe6f1ed5; on x86 73f9b911faa7).
 *
 * Return: the address; 0 if it cannot be told.
 */
static inline unsigned long waitprof_hidden_ra(unsigned long *slot)
{
	unsigned long ra = 0;
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
	struct llist_node *n = READ_ONCE(current->rethooks.first);

	/* Of several on one function, the first that came has the real one. */
	for (; n; n = READ_ONCE(n->next)) {
		struct rethook_node *r =
			container_of(n, struct rethook_node, llist);

		if (r->frame == (unsigned long)slot)
			ra = r->ret_addr;
	}
#endif
	return ra;
}

#endif /* _WAITPROF_COMPAT_UNWIND_H */
