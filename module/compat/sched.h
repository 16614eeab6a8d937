/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs between kernels about the state of a task and about the
 * sched_switch tracepoint.
 */
#ifndef _WAITPROF_COMPAT_SCHED_H
#define _WAITPROF_COMPAT_SCHED_H

#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/ktime.h>
#include <linux/cpumask.h>
#include "compat/version.h"
#ifdef CONFIG_X86_64
#include <asm/cpufeature.h>
#include <asm/tsc.h>
#endif

/* task_struct::state became __state in 5.14, 2f064a59a11f. */
static __always_inline unsigned int waitprof_task_state(struct task_struct *t)
{
#if WAITPROF_KERNEL_GEQ(5, 14)
	return READ_ONCE(t->__state);
#else
	return READ_ONCE(t->state);
#endif
}

/* TASK_RTLOCK_WAIT came in 5.15 (5f220be21418), TASK_FROZEN in 6.1
 * (f5d39b020809). Both are macros.
 */
#ifdef TASK_RTLOCK_WAIT
#define WAITPROF_TASK_RTLOCK	TASK_RTLOCK_WAIT
#else
#define WAITPROF_TASK_RTLOCK	0
#endif

#ifdef TASK_FROZEN
#define WAITPROF_TASK_FROZEN	TASK_FROZEN
#else
#define WAITPROF_TASK_FROZEN	0
#endif

/**
 * waitprof_task_blocked() - has a task left the run queue?
 * @t: a task that is switched out, or one whose pi_lock is held
 *
 * A task that was preempted, yielded or was woken before it got round to
 * sleeping is still queued, whatever its state says.
 */
static __always_inline bool waitprof_task_blocked(struct task_struct *t)
{
	if (!t->on_rq)
		return true;
	/* Delayed dequeue, 6.12, 152e11f6df29: asleep, yet queued for a while. */
#if WAITPROF_KERNEL_GEQ(6, 12)
	if (t->se.sched_delayed)
		return true;
#endif
	/* Proxy execution, 6.17: a donor of its time stays queued. */
#if WAITPROF_KERNEL_GEQ(6, 17) && defined(CONFIG_SCHED_PROXY_EXEC)
	if (READ_ONCE(t->blocked_on))
		return true;
#endif
	return false;
}

/**
 * WAITPROF_SWITCH_PROBE() - the head of a probe for the sched_switch tracepoint
 * @name: the probe; it has @prev, @next and WAITPROF_PREV_STATE
 *
 * The state of prev, as it was before __schedule() took the task off the
 * queue, is an argument since 5.18, fa2c3254d7cf. Before, it can only be read
 * from the task, and a waker may have overwritten it with TASK_WAKING.
 */
#if WAITPROF_KERNEL_GEQ(5, 18)
#define WAITPROF_SWITCH_PROBE(name)					\
	void name(void *data, bool preempt, struct task_struct *prev,	\
		  struct task_struct *next, unsigned int prev_state)
#define WAITPROF_PREV_STATE	prev_state
#define WAITPROF_STATE_LOST(state)	false
#else
#define WAITPROF_SWITCH_PROBE(name)					\
	void name(void *data, bool preempt, struct task_struct *prev,	\
		  struct task_struct *next)
#define WAITPROF_PREV_STATE	waitprof_task_state(prev)
#define WAITPROF_STATE_LOST(state)	unlikely((state) == TASK_WAKING)
#endif

/**
 * waitprof_switch_blocked() - has the task that is switched out gone to sleep?
 * @t: the task
 * @preempt: the argument of the tracepoint
 *
 * A task that was preempted is not blocked; its blocked_on, where proxy
 * execution looks, may be set already.
 */
static __always_inline bool waitprof_switch_blocked(struct task_struct *t,
						    bool preempt)
{
	if (IS_ENABLED(CONFIG_SCHED_PROXY_EXEC) && preempt)
		return false;
	return waitprof_task_blocked(t);
}

/**
 * waitprof_sched_clock_good() - is the scheduler's clock one for all CPUs?
 *
 * arm64 has one counter for all. x86 falls back to a clock of each CPU's own,
 * kept together only to within a tick, once it distrusts the TSC; and so it
 * does under a hypervisor whose clock is not stable, which no exported symbol
 * tells. So there the processor has to promise that the TSC is.
 */
static inline bool waitprof_sched_clock_good(void)
{
#ifdef CONFIG_X86_64
	if (num_possible_cpus() == 1)
		return true;
	if (check_tsc_unstable())
		return false;
	return !boot_cpu_has(X86_FEATURE_HYPERVISOR) ||
	       (boot_cpu_has(X86_FEATURE_CONSTANT_TSC) &&
		boot_cpu_has(X86_FEATURE_NONSTOP_TSC));
#else
	return true;
#endif
}

#endif /* _WAITPROF_COMPAT_SCHED_H */
