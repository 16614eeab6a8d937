/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86-64: frames are not linked. The distance from a return address to the next
 * is a constant of the function it lies in, and the kernel's unwinder knows it.
 * stack_trace_save() gives addresses only.
 */
#ifndef _WAITPROF_COMPAT_UNWIND_ORC_H
#define _WAITPROF_COMPAT_UNWIND_ORC_H

#include <linux/compiler.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <asm/unwind.h>
#include "compat/version.h"

static __always_inline unsigned long waitprof_ra(const unsigned long *slot)
{
	return READ_ONCE_NOCHECK(*slot);
}

static __always_inline unsigned long *waitprof_up(unsigned long *slot,
						  unsigned long distance)
{
	return slot + distance;
}

static __always_inline unsigned long waitprof_ra_up(unsigned long *slot,
						    unsigned long distance)
{
	return READ_ONCE_NOCHECK(slot[distance]);
}

static inline unsigned long waitprof_distance(const unsigned long *slot,
					      const unsigned long *next)
{
	return next - slot;
}

static __always_inline bool waitprof_slots_fixed(void)
{
	return true;
}

static __always_inline unsigned long *waitprof_entry_slot(struct pt_regs *regs)
{
	return (unsigned long *)kernel_stack_pointer(regs);
}

static __always_inline unsigned long waitprof_call(const unsigned long *slot)
{
	return (unsigned long)slot;
}

/**
 * struct waitprof_unwind - where an unwinding stands
 * @st: the kernel's state
 */
struct waitprof_unwind {
	struct unwind_state st;
};

static inline unsigned long *waitprof_unwind_slot(struct waitprof_unwind *u)
{
	if (unwind_done(&u->st) || u->st.regs)
		return NULL;
	return u->st.sp ? (unsigned long *)u->st.sp - 1 : NULL;
}

static inline unsigned long waitprof_unwind_ra(struct waitprof_unwind *u)
{
	return unwind_get_return_address(&u->st);
}

static inline unsigned long *waitprof_unwind_bp(struct waitprof_unwind *u)
{
	return (unsigned long *)u->st.bp;
}

static inline bool waitprof_unwind_sure(struct waitprof_unwind *u)
{
	return !unwind_error(&u->st);
}

/* The kernel and its modules lie in the highest 2 GiB, and there neither stacks
 * nor memory of slab or pages.
 */
static inline bool waitprof_unwind_text(unsigned long word)
{
	return word >= __START_KERNEL_map;
}

static inline void waitprof_unwind_next(struct waitprof_unwind *u)
{
	unwind_next_frame(&u->st);
}

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

/* @regs->ip cannot be used: what it says depends on how the probe was reached
 * (int3, ftrace, jump).
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

static inline bool waitprof_unwind_task(struct waitprof_unwind *u,
					struct task_struct *t)
{
	unwind_start(&u->st, t, NULL, NULL);
	return !unwind_done(&u->st);
}

#endif /* _WAITPROF_COMPAT_UNWIND_ORC_H */
