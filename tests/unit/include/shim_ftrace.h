/* SPDX-License-Identifier: GPL-2.0 */
/* Ftrace, as far as it calls handlers at the entries of functions. */
#ifndef _SHIM_FTRACE_H
#define _SHIM_FTRACE_H

#include "shim_base.h"
#include "shim_kernel.h"

#define FTRACE_OPS_FL_SAVE_REGS		1
#define FTRACE_OPS_FL_RECURSION_SAFE	2

struct ftrace_ops;

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
struct ftrace_regs {
	long shim_opaque;
};

struct shim_arch_ftrace_regs {
	struct pt_regs regs;
};

#define arch_ftrace_regs(fregs)	((struct shim_arch_ftrace_regs *)(fregs))
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
struct ftrace_regs {
	struct pt_regs regs;
};
#else
#define ftrace_regs		pt_regs
#endif

#ifdef SHIM_KPROBES_ALONE	/* the handlers are there, but ftrace calls none */
typedef void (*ftrace_func_t)(unsigned long ip, struct pt_regs *regs);
#define shim_ftrace_handler(func, ip, ops, regs)	(func)(ip, regs)
#else
typedef void (*ftrace_func_t)(unsigned long ip, unsigned long parent,
			      struct ftrace_ops *ops, struct ftrace_regs *fregs);
#define shim_ftrace_handler(func, ip, ops, regs) \
	(func)(ip, 0, ops, (struct ftrace_regs *)(regs))
#endif

#define SHIM_FILTER		128

struct ftrace_ops {
	ftrace_func_t func;
	unsigned long flags;
	/* Empty: it is called for all functions that there are. */
	unsigned long shim_filter[SHIM_FILTER];
	unsigned int shim_filtered;
	bool shim_registered;
	struct ftrace_ops *shim_next;
};

static struct ftrace_ops *shim_ftrace __maybe_unused;	/* all registered */
static unsigned int shim_filters __maybe_unused;	/* entries, of all */
/* The sysctl ftrace_enabled is 0. */
static bool shim_ftrace_off __maybe_unused;
/* It has found itself broken: nothing changes any more. */
static bool shim_ftrace_killed __maybe_unused;
/* Something that happens just before and just after a change. */
static void (*shim_on_ftrace)(void) __maybe_unused;

static inline unsigned long *shim_filter_find(struct ftrace_ops *ops,
					      unsigned long ip)
{
	unsigned int i;

	for (i = 0; i < ops->shim_filtered; i++)
		if (ops->shim_filter[i] == ip)
			return &ops->shim_filter[i];
	return NULL;
}

static inline void shim_ftrace_changes(void)
{
	if (shim_irqs_off || shim_preempt_off)
		abort();
	if (shim_on_ftrace)
		shim_on_ftrace();
}

static inline int ftrace_set_filter_ip(struct ftrace_ops *ops, unsigned long ip,
				       int remove, int reset)
{
	unsigned long *at;

	if (reset)
		abort();
	shim_ftrace_changes();
	if (shim_ftrace_killed)
		return -ENODEV;
	if (shim_fails())
		return -ENOMEM;
	if (!remove) {
		if (ops->shim_filtered == SHIM_FILTER)
			abort();
		ops->shim_filter[ops->shim_filtered++] = ip;
		shim_filters++;
		shim_ftrace_changes();
		return 0;
	}
	at = shim_filter_find(ops, ip);
	if (!at)
		return -ENOENT;
	*at = ops->shim_filter[--ops->shim_filtered];
	shim_filters--;
	/* Now it would be called for all functions. */
	if (ops->shim_registered && !ops->shim_filtered)
		abort();
	shim_ftrace_changes();
	return 0;
}

static inline int register_ftrace_function(struct ftrace_ops *ops)
{
	if (ops->shim_registered || !ops->func || !ops->shim_filtered)
		abort();
	if (LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0) &&
	    ops->flags != (FTRACE_OPS_FL_SAVE_REGS |
			   FTRACE_OPS_FL_RECURSION_SAFE))
		abort();	/* it would have no registers */
	shim_ftrace_changes();
	if (shim_ftrace_killed)
		return -ENODEV;
	if (shim_fails())
		return -EBUSY;
	ops->shim_registered = true;
	ops->shim_next = shim_ftrace;
	shim_ftrace = ops;
	shim_ftrace_changes();
	return 0;
}

static inline int unregister_ftrace_function(struct ftrace_ops *ops)
{
	struct ftrace_ops **p = &shim_ftrace;

	shim_ftrace_changes();
	if (shim_ftrace_killed)
		return -ENODEV;
	for (; *p != ops; p = &(*p)->shim_next)
		if (!*p)
			abort();
	*p = ops->shim_next;
	ops->shim_registered = false;
	shim_ftrace_changes();
	return 0;
}

/* One handler is called. The registers have to be as they were then, and it must
 * not stay with preemption or interrupts off.
 */
static inline void shim_ftrace_call(ftrace_func_t func, struct ftrace_ops *ops,
				    unsigned long ip, const struct pt_regs *regs)
{
	struct pt_regs mine = *regs;
	int irqs = shim_irqs_off, preempt = shim_preempt_off;

	shim_handling++;
	shim_ftrace_handler(func, ip, ops, &mine);
	shim_handling--;
	if (memcmp(&mine, regs, sizeof(mine)) || irqs != shim_irqs_off ||
	    preempt != shim_preempt_off)
		abort();
}

/* A call of the function at @ip. Return: how many handlers there were. */
static inline unsigned int shim_ftrace_hit(unsigned long ip,
					   const struct pt_regs *regs)
{
	struct ftrace_ops *ops;
	unsigned int n = 0;

	for (ops = shim_ftrace; ops; ops = ops->shim_next) {
		if (shim_ftrace_off || !shim_filter_find(ops, ip))
			continue;
		shim_ftrace_call(ops->func, ops, ip, regs);
		n++;
	}
	return n;
}

#endif /* _SHIM_FTRACE_H */
