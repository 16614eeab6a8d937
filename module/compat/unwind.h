/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Up a stack from one return address to the next, and the unwinder that knows
 * the way from anywhere. A "slot" is the place of a return address in memory.
 *
 * Nothing here takes a lock or allocates; all may be called with the run-queue
 * lock held.
 */
#ifndef _WAITPROF_COMPAT_UNWIND_H
#define _WAITPROF_COMPAT_UNWIND_H

#ifdef CONFIG_KRETPROBE_ON_RETHOOK
#include <linux/rethook.h>
#endif
#include <linux/sched.h>
#include <linux/types.h>

struct pt_regs;
struct task_struct;
struct waitprof_unwind;

/**
 * waitprof_ra() - the return address at a slot
 * @slot: the slot
 */
static inline unsigned long waitprof_ra(const unsigned long *slot);

/**
 * waitprof_up() - another slot up the stack
 * @slot: a slot on the stack of the running task, or of one that stays asleep
 * @distance: sum of waitprof_distance() from one to the next
 *
 * Return: the slot, not to be read if it is not on the same stack.
 */
static inline unsigned long *waitprof_up(unsigned long *slot,
					 unsigned long distance);

/**
 * waitprof_ra_up() - the return address at another slot up the stack
 * @slot: the slot
 * @distance: see waitprof_up(); known to lead to a slot from one with that
 *	return address
 */
static inline unsigned long waitprof_ra_up(unsigned long *slot,
					   unsigned long distance);

/**
 * waitprof_distance() - what is to be known of a slot to find the next
 * @slot: the slot
 * @next: the next
 *
 * Return: words; 1 where slots are linked.
 */
static inline unsigned long waitprof_distance(const unsigned long *slot,
					      const unsigned long *next);

/**
 * waitprof_slots_fixed() - do the slots of a path that is taken again lie where
 * they lay?
 *
 * As long as their distances do not vary. Where slots are linked, the links
 * would have to be followed.
 */
static inline bool waitprof_slots_fixed(void);

/**
 * waitprof_entry_slot() - where a function that was just entered returns to
 * @regs: the registers at its entry
 */
static inline unsigned long *waitprof_entry_slot(struct pt_regs *regs);

/**
 * waitprof_call() - what tells a call from others with its return address
 * @slot: the slot of that, at the entry or later; or NULL
 *
 * Return: a number that no call has which lies elsewhere on the stack.
 */
static inline unsigned long waitprof_call(const unsigned long *slot);

/**
 * waitprof_unwind_slot() - where the return address of this frame lies
 * @u: the unwinding
 *
 * Return: its slot; NULL at the end and in a frame that was entered by an
 *	exception, which has none.
 */
static inline unsigned long *waitprof_unwind_slot(struct waitprof_unwind *u);

/**
 * waitprof_unwind_ra() - the return address of this frame
 * @u: the unwinding
 *
 * Return: the address, the real one where a tracer has put its trampoline in
 *	its place; 0 at the end.
 */
static inline unsigned long waitprof_unwind_ra(struct waitprof_unwind *u);

/**
 * waitprof_unwind_bp() - the frame pointer register of the function that this
 * frame's return address lies in
 * @u: the unwinding; it has a slot
 */
static inline unsigned long *waitprof_unwind_bp(struct waitprof_unwind *u);

/**
 * waitprof_unwind_sure() - is the unwinder sure of its way so far?
 * @u: the unwinding
 */
static inline bool waitprof_unwind_sure(struct waitprof_unwind *u);

/**
 * waitprof_unwind_text() - may a word be a return address?
 * @word: read from a stack
 */
static inline bool waitprof_unwind_text(unsigned long word);

/**
 * waitprof_unwind_next() - go to the caller's frame
 * @u: the unwinding
 */
static inline void waitprof_unwind_next(struct waitprof_unwind *u);

/**
 * waitprof_unwind_here() - start on the running task's own stack
 * @u: the unwinding
 * @slot: the slot to start at
 *
 * Return: whether it was found.
 */
static inline bool waitprof_unwind_here(struct waitprof_unwind *u,
					unsigned long *slot);

/**
 * waitprof_unwind_regs() - start at the entry of a function
 * @u: the unwinding
 * @ip: where the entry is
 * @regs: the registers there
 *
 * The first frame is that of the function's caller.
 *
 * Return: whether there is a first frame.
 */
static inline bool waitprof_unwind_regs(struct waitprof_unwind *u,
					unsigned long ip, struct pt_regs *regs);

/**
 * waitprof_unwind_task() - start in a task that is off its CPU
 * @u: the unwinding
 * @t: the task; its pi_lock is held, so that it cannot wake
 *
 * Return: whether there is a first frame.
 */
static inline bool waitprof_unwind_task(struct waitprof_unwind *u,
					struct task_struct *t);

#ifdef CONFIG_X86_64
#include "compat/unwind_orc.h"
#else
#include "compat/unwind_record.h"
#endif

/**
 * waitprof_hidden_ra() - the return address that a return probe has replaced
 * @slot: its slot, on the running task's stack
 *
 * The kernel's own look-up is not exported. Return probes are kept so where
 * they are rethooks (5.18, 54ecbe6f1ed5; on x86 73f9b911faa7), and by what tells
 * one call from others.
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

		if (r->frame == waitprof_call(slot))
			ra = r->ret_addr;
	}
#endif
	return ra;
}

#endif /* _WAITPROF_COMPAT_UNWIND_H */
