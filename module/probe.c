// SPDX-License-Identifier: GPL-2.0
/* PROBE: register and unregister. See probe.h. */

#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include "probe.h"
#include "record.h"

/**
 * struct waitprof_point - a function with a kprobe on it
 * @symbol: its name; exported, so no compiler makes another of it
 * @handler: called at its entry
 * @kprobe: the kprobe, zeroed before each registration
 * @missed: hits lost in earlier registrations
 */
struct waitprof_point {
	const char *symbol;
	kprobe_pre_handler_t handler;
	struct kprobe kprobe;
	unsigned long missed;
};

/* Without it nothing is lost: the site is found at the switch. */
static struct waitprof_point waitprof_schedule_point = {
	.symbol = "schedule",
	.handler = waitprof_record_schedule,
};

static struct tracepoint *waitprof_switch_tp;
static struct waitprof_probe_state waitprof_state;

static int waitprof_point_attach(struct waitprof_point *point)
{
	/* Registration leaves its traces in the struct. */
	memset(&point->kprobe, 0, sizeof(point->kprobe));
	point->kprobe.symbol_name = point->symbol;
	point->kprobe.pre_handler = point->handler;
	return register_kprobe(&point->kprobe);
}

/* Waits for handlers that run. */
static void waitprof_point_detach(struct waitprof_point *point)
{
	unregister_kprobe(&point->kprobe);
	point->missed += point->kprobe.nmissed;
	point->kprobe.nmissed = 0;
}

static void waitprof_find_switch(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "sched_switch"))
		*(struct tracepoint **)data = tp;
}

/* A kprobe can be in place and yet never be reached: ftrace, on which it
 * sits, may be switched off, and so may all kprobes. So sleep, and look.
 */
static bool waitprof_kprobe_reached(void)
{
	u64 before = waitprof_record_kprobe_hits();

	schedule_timeout_uninterruptible(1);
	return waitprof_record_kprobe_hits() != before;
}

static void waitprof_kprobe_start(void)
{
	waitprof_state.hook = WAITPROF_HOOK_SWITCH;
	if (waitprof_point_attach(&waitprof_schedule_point)) {
		waitprof_state.why = "kprobe-refused";
		return;
	}
	if (!waitprof_kprobe_reached()) {
		waitprof_point_detach(&waitprof_schedule_point);
		waitprof_state.why = "kprobe-not-reached";
		return;
	}
	waitprof_state.hook = WAITPROF_HOOK_KPROBE;
	waitprof_record_late(true);
	/* The first sleep seen by both teaches the switch probe its frames. */
	schedule_timeout_uninterruptible(1);
}

/**
 * waitprof_probe_start() - begin to record
 * @hook: who is to find the sites
 *
 * When it returns, every switch on every CPU is seen.
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno, then no probe is left.
 */
int waitprof_probe_start(enum waitprof_hook hook)
{
	int err;

	waitprof_state.why = NULL;
	waitprof_state.hook = WAITPROF_HOOK_SWITCH;
	check_trace_callback_type_sched_switch(waitprof_record_switch);
	for_each_kernel_tracepoint(waitprof_find_switch, &waitprof_switch_tp);
	if (!waitprof_switch_tp)
		return -ENOENT;
	err = tracepoint_probe_register(waitprof_switch_tp,
					waitprof_record_switch, NULL);
	if (err)
		return err;
	if (hook == WAITPROF_HOOK_KPROBE)
		waitprof_kprobe_start();
	synchronize_rcu();
	return 0;
}

/**
 * waitprof_probe_stop() - end it
 *
 * When it returns, no handler runs on any CPU.
 *
 * Context: process, may sleep.
 */
void waitprof_probe_stop(void)
{
	if (waitprof_state.hook == WAITPROF_HOOK_KPROBE)
		waitprof_point_detach(&waitprof_schedule_point);
	tracepoint_probe_unregister(waitprof_switch_tp,
				    waitprof_record_switch, NULL);
	tracepoint_synchronize_unregister();
	synchronize_rcu();
	if (waitprof_state.hook == WAITPROF_HOOK_KPROBE)
		waitprof_record_late(false);
}

/**
 * waitprof_probe_state() - what the probes are doing
 */
struct waitprof_probe_state waitprof_probe_state(void)
{
	return waitprof_state;
}

/**
 * waitprof_probe_missed() - hits that a kprobe could not take
 *
 * The site of such a sleep was found at the switch.
 */
unsigned long waitprof_probe_missed(void)
{
	return waitprof_schedule_point.missed +
	       READ_ONCE(waitprof_schedule_point.kprobe.nmissed);
}
