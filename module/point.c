// SPDX-License-Identifier: GPL-2.0
/* PROBE: a probe that comes and goes. See point.h. */

#include <linux/module.h>
#include <linux/sched.h>
#include <linux/string.h>
#include "point.h"

static bool waitprof_ftrace = true;

/* An ftrace that has found itself broken takes nothing out any more, and goes on
 * calling what is in place (ftrace_kill()): our code must never be freed then.
 */
static bool waitprof_stuck;

/**
 * waitprof_point_ftrace() - may ftrace be used?
 * @use: no: kprobes only
 *
 * Context: process, before the first point is attached.
 */
void waitprof_point_ftrace(bool use)
{
	waitprof_ftrace = use;
}

#ifdef WAITPROF_FTRACE
/* To take something out of a filter, ftrace makes a new one. What could not be
 * taken out is called for nobody; but the last has to go, or the filter stays.
 */
static void waitprof_calls_unfilter(struct waitprof_calls *calls,
				    unsigned long ip)
{
	unsigned int tries = 100;

	while (ftrace_set_filter_ip(&calls->ops, ip, 1, 0) == -ENOMEM &&
	       !calls->points && tries--)
		cond_resched();
}

/* Return: 0, or a negative errno, then only the kprobe can be used. */
static int waitprof_calls_add(struct waitprof_calls *calls,
			      struct waitprof_point *point)
{
	unsigned long ip = (unsigned long)point->probe.kp.addr;
	u32 i = hash_long(ip, WAITPROF_CALLS_BITS);
	int err;

	if (!waitprof_ftrace || !kprobe_ftrace(&point->probe.kp))
		return -EOPNOTSUPP;
	if (waitprof_calls_find(calls, ip) || calls->points == WAITPROF_CALLS)
		return -EBUSY;
	while (calls->at[i].ip)
		i = (i + 1) % WAITPROF_CALLS;
	/* With nothing in its filter, it would be called for all functions. */
	err = ftrace_set_filter_ip(&calls->ops, ip, 0, 0);
	if (err)
		return err;
	calls->at[i].point = point;
	smp_store_release(&calls->at[i].ip, ip); /* waitprof_calls_find() */
	if (!calls->points)
		err = register_ftrace_function(&calls->ops);
	if (err) {
		WRITE_ONCE(calls->at[i].ip, 0);
		waitprof_calls_unfilter(calls, ip);
		return err;
	}
	calls->points++;
	return 0;
}

static void waitprof_calls_remove(struct waitprof_calls *calls,
				  struct waitprof_point *point)
{
	unsigned long ip = (unsigned long)point->probe.kp.addr;
	u32 i = hash_long(ip, WAITPROF_CALLS_BITS);

	while (calls->at[i].ip != ip)
		i = (i + 1) % WAITPROF_CALLS;
	WRITE_ONCE(calls->at[i].ip, 0);
	/* As above; and it frees the filter with the last. */
	if (!--calls->points && unregister_ftrace_function(&calls->ops))
		waitprof_stuck = true;
	else
		waitprof_calls_unfilter(calls, ip);
}
#else
static int waitprof_calls_add(struct waitprof_calls *calls,
			      struct waitprof_point *point)
{
	return -EOPNOTSUPP;
}

static void waitprof_calls_remove(struct waitprof_calls *calls,
				  struct waitprof_point *point)
{
}
#endif

static int waitprof_point_register(struct waitprof_point *point)
{
	struct kprobe *kp = &point->probe.kp;
	int err;

	kp->pre_handler = point->handler;
	kp->flags = KPROBE_FLAG_DISABLED;
	err = register_kprobe(kp);
	if (err)
		return err;
	point->ftrace = point->calls &&
			!waitprof_calls_add(point->calls, point);
	if (point->ftrace)
		return 0;
	err = enable_kprobe(kp);
	if (err)
		unregister_kprobe(kp);
	return err;
}

/**
 * waitprof_point_attach() - put the probe in place
 * @point: the point
 *
 * Context: process, may sleep; one at a time for points that share calls.
 * Return: 0 or a negative errno, which is kept in @point.
 */
int waitprof_point_attach(struct waitprof_point *point)
{
	if (point->attached)
		return 0;
	if (waitprof_stuck) {
		point->err = -ENODEV;
		return point->err;
	}
	/* Registration leaves its traces in the struct. */
	memset(&point->probe, 0, sizeof(point->probe));
	point->probe.kp.symbol_name = point->symbol;
	if (point->handler) {
		point->err = waitprof_point_register(point);
	} else {
		point->probe.entry_handler = point->entry;
		point->probe.handler = point->ret;
		point->probe.data_size = point->data_size;
		point->probe.maxactive = point->maxactive;
		point->err = register_kretprobe(&point->probe);
	}
	point->attached = !point->err;
	return point->err;
}

/**
 * waitprof_point_detach() - take it away
 * @point: the point
 *
 * When it returns, no handler knows of it any more.
 *
 * Context: process, may sleep; one at a time for points that share calls.
 */
void waitprof_point_detach(struct waitprof_point *point)
{
	if (!point->attached)
		return;
	if (point->ftrace)
		waitprof_calls_remove(point->calls, point);
	/* These wait until handlers that run with preemption off are done,
	 * those that ftrace has called too.
	 */
	if (point->handler)
		unregister_kprobe(&point->probe.kp);
	else
		unregister_kretprobe(&point->probe);
	if (!point->probe.kp.addr)	/* it is still in place */
		waitprof_stuck = true;
	atomic_long_add(point->probe.kp.nmissed + point->probe.nmissed,
			&point->missed);
	point->attached = false;
	point->ftrace = false;
}

/**
 * waitprof_point_exit() - wait until nothing of ours can be called any more
 *
 * Which may be for ever: rmmod then does not come back, but the machine lives.
 *
 * Context: process, may sleep; after the last point is detached, before any
 * memory is freed that handlers use.
 */
void waitprof_point_exit(void)
{
	if (!waitprof_stuck)
		return;
	pr_err("ftrace is broken and may still call this module, which therefore stays\n");
	while (waitprof_stuck)
		schedule_timeout_idle(MAX_SCHEDULE_TIMEOUT);
}

/**
 * waitprof_point_leaves() - does the function of a point go?
 * @point: the point
 * @event: what happens to a module: its init sections go when it is live, the
 *	rest when it is going
 * @mod: the module
 */
bool waitprof_point_leaves(struct waitprof_point *point, unsigned long event,
			   struct module *mod)
{
	unsigned long addr = (unsigned long)point->probe.kp.addr;

	if (!point->attached)
		return false;
	if (event == MODULE_STATE_GOING)
		return within_module(addr, mod);
	return event == MODULE_STATE_LIVE && within_module_init(addr, mod);
}

/**
 * waitprof_point_missed() - hits that it could not take, since load
 * @point: the point
 */
unsigned long waitprof_point_missed(const struct waitprof_point *point)
{
	unsigned long missed = atomic_long_read(&point->missed);

	if (!point->attached)
		return missed;
	return missed + READ_ONCE(point->probe.kp.nmissed) +
	       READ_ONCE(point->probe.nmissed);
}
