/* SPDX-License-Identifier: GPL-2.0 */
/*
 * arm64: each function that calls another has a frame record on its stack,
 *
 *	{ frame pointer of the caller, return address }
 *
 * and the frame pointer register x29 holds the address of the innermost. So the
 * records are linked, and the word before a slot leads to the next one. At its
 * entry a function has no record yet: x29 is still the caller's, and the return
 * address is in x30. A kprobe's handler finds these two side by side in its
 * registers, just like a record.
 *
 * The kernel's own unwinder is exported as stack_trace_save() alone, which gives
 * addresses of the running task. It knows what a tracer has put its trampoline
 * in place of, and it is what check=1 compares with; the slots come from the
 * records. Of a task asleep there are the records only.
 */
#ifndef _WAITPROF_COMPAT_UNWIND_RECORD_H
#define _WAITPROF_COMPAT_UNWIND_RECORD_H

#include <linux/compiler.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/stacktrace.h>
#include <asm/pointer_auth.h>
#include "compat/version.h"

/* A return address is stored with a signature in its upper bits. Since 6.5
 * there is an instruction's macro that strips it.
 */
static __always_inline unsigned long waitprof_ra(const unsigned long *slot)
{
	unsigned long ra = READ_ONCE_NOCHECK(*slot);

#ifdef ptrauth_strip_kernel_insn_pac
	return ptrauth_strip_kernel_insn_pac(ra);
#else
	return ptrauth_strip_insn_pac(ra);
#endif
}

/* The slot of the record at @fp, if that lies above @from on the same stack.
 * The size of a stack is a power of two, and it is aligned to that.
 */
static __always_inline unsigned long *waitprof_record_slot(unsigned long fp,
							   unsigned long from)
{
	unsigned long slot = fp + sizeof(long);

	if (unlikely(slot <= from || slot % sizeof(long) ||
		     (slot ^ from) & ~(THREAD_SIZE - 1)))
		return NULL;
	return (unsigned long *)slot;
}

static __always_inline unsigned long *waitprof_up(unsigned long *slot,
						  unsigned long distance)
{
	for (; slot && distance; distance--)
		slot = waitprof_record_slot(READ_ONCE_NOCHECK(slot[-1]),
					    (unsigned long)slot);
	return slot;
}

static __always_inline unsigned long waitprof_ra_up(unsigned long *slot,
						    unsigned long distance)
{
	slot = waitprof_up(slot, distance);
	return slot ? waitprof_ra(slot) : 0;
}

static inline unsigned long waitprof_distance(const unsigned long *slot,
					      const unsigned long *next)
{
	return 1;
}

static __always_inline bool waitprof_slots_fixed(void)
{
	return false;
}

static __always_inline unsigned long *waitprof_entry_slot(struct pt_regs *regs)
{
	return (unsigned long *)&regs->regs[30];
}

/* The caller's frame pointer. */
static __always_inline unsigned long waitprof_call(const unsigned long *slot)
{
	return slot ? READ_ONCE_NOCHECK(slot[-1]) : 1 /* which none is */;
}

/**
 * struct waitprof_unwind - where an unwinding stands
 * @slot: of the return address
 * @at: which of @ra that is
 * @n: how many of @ra there are
 * @ra: what the kernel's unwinder says, from our own functions on
 */
struct waitprof_unwind {
	unsigned long *slot;
	unsigned int at, n;
	unsigned long ra[48];
};

static inline unsigned long *waitprof_unwind_slot(struct waitprof_unwind *u)
{
	return u->slot;
}

static inline unsigned long waitprof_unwind_ra(struct waitprof_unwind *u)
{
	if (!u->slot)
		return 0;
	return u->at < u->n ? u->ra[u->at] : waitprof_ra(u->slot);
}

/* Only of use where distances are. */
static inline unsigned long *waitprof_unwind_bp(struct waitprof_unwind *u)
{
	return NULL;
}

static inline bool waitprof_unwind_sure(struct waitprof_unwind *u)
{
	return true;
}

/* Only asked where there are two distances. */
static inline bool waitprof_unwind_text(unsigned long word)
{
	return true;
}

static inline void waitprof_unwind_next(struct waitprof_unwind *u)
{
	u->slot = waitprof_up(u->slot, 1);
	u->at++;
}

/* Ask the kernel's unwinder, and find an address in what it says. */
static inline void waitprof_unwind_ask(struct waitprof_unwind *u,
				       unsigned long addr)
{
	u->n = stack_trace_save(u->ra, ARRAY_SIZE(u->ra), 0);
	for (u->at = 0; u->at < u->n && u->ra[u->at] != addr;)
		u->at++;
}

static inline bool waitprof_unwind_here(struct waitprof_unwind *u,
					unsigned long *slot)
{
	unsigned long *own = (unsigned long *)__builtin_frame_address(0) + 1;

	waitprof_unwind_ask(u, waitprof_ra(own));
	for (; own && own != slot; own = waitprof_up(own, 1))
		u->at++;
	u->slot = own;
	return own;
}

static inline bool waitprof_unwind_regs(struct waitprof_unwind *u,
					unsigned long ip, struct pt_regs *regs)
{
	u->slot = waitprof_entry_slot(regs);
	waitprof_unwind_ask(u, ip);
	/* Then comes x30, unless the unwinder passes over it, as before 6.13. */
	if (u->at + 1 < u->n && u->ra[u->at + 1] != waitprof_ra(u->slot))
		u->ra[u->at] = waitprof_ra(u->slot);
	else
		u->at++;
	return true;
}

static inline bool waitprof_unwind_task(struct waitprof_unwind *u,
					struct task_struct *t)
{
	u->n = 0;
	u->slot = waitprof_record_slot(thread_saved_fp(t),
				       (unsigned long)task_stack_page(t));
	return u->slot;
}

#endif /* _WAITPROF_COMPAT_UNWIND_RECORD_H */
