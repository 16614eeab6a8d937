// SPDX-License-Identifier: GPL-2.0
/* PROBE: register and unregister. See probe.h. */

#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include "point.h"
#include "probe.h"
#include "record.h"

/* Without it nothing is lost: the site is found at the switch. */
static struct waitprof_calls waitprof_schedule_calls =
	WAITPROF_CALLS_INIT(waitprof_record_called);
static struct waitprof_point waitprof_schedule_point = {
	.symbol = "schedule",
	.calls = &waitprof_schedule_calls,
	.handler = waitprof_record_kprobe,
};

static struct tracepoint *waitprof_switch_tp;
static struct waitprof_probe_state waitprof_state;

static void waitprof_find_switch(struct tracepoint *tp, void *data)
{
	if (!strcmp(tp->name, "sched_switch"))
		*(struct tracepoint **)data = tp;
}

/* A probe can be in place and yet never be reached: ftrace may be switched off,
 * and so may all kprobes. So sleep, and look.
 */
static bool waitprof_schedule_reached(void)
{
	u64 before = waitprof_record_hits();

	schedule_timeout_uninterruptible(1);
	return waitprof_record_hits() != before;
}

/* Return: why schedule() is not probed; NULL if it is. */
static const char *waitprof_schedule_start(void)
{
	if (waitprof_point_attach(&waitprof_schedule_point))
		return "kprobe-refused";
	if (waitprof_schedule_reached())
		return NULL;
	waitprof_point_detach(&waitprof_schedule_point);
	return "kprobe-not-reached";
}

/**
 * waitprof_probe_start() - begin to record
 * @hook: who is to find the sites
 * @since: gets when the first wait can have begun, ns of waitprof_clock()
 *
 * When it returns, every switch on every CPU is seen.
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno, then no probe is left.
 */
int waitprof_probe_start(enum waitprof_hook hook, u64 *since)
{
	int err;

	check_trace_callback_type_sched_switch(waitprof_record_switch);
	for_each_kernel_tracepoint(waitprof_find_switch, &waitprof_switch_tp);
	if (!waitprof_switch_tp)
		return -ENOENT;
	waitprof_state.asked = hook;
	waitprof_state.why = NULL;
	if (hook == WAITPROF_HOOK_KPROBE) {
		waitprof_state.why = waitprof_schedule_start();
		if (waitprof_state.why)
			hook = WAITPROF_HOOK_SWITCH;
	}
	waitprof_state.hook = hook;
	waitprof_state.ftrace = waitprof_schedule_point.ftrace;
	*since = waitprof_clock();
	err = tracepoint_probe_register(waitprof_switch_tp,
					waitprof_record_switch, NULL);
	if (err) {
		waitprof_point_detach(&waitprof_schedule_point);
		return err;
	}
	if (hook == WAITPROF_HOOK_KPROBE) {
		/* A sleep that the switch probe sees by itself teaches it the
		 * frames by which it knows what the other one has seen.
		 */
		schedule_timeout_uninterruptible(1);
		waitprof_record_late(true);
	}
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
	waitprof_record_late(false);
	waitprof_point_detach(&waitprof_schedule_point);
	tracepoint_probe_unregister(waitprof_switch_tp,
				    waitprof_record_switch, NULL);
	tracepoint_synchronize_unregister();
	synchronize_rcu();
	waitprof_record_forget();
}

/**
 * waitprof_probe_state() - what the probes are doing
 */
struct waitprof_probe_state waitprof_probe_state(void)
{
	return waitprof_state;
}

/**
 * waitprof_probe_missed() - hits that the kprobe on schedule() could not take
 *
 * The site of such a sleep was found at the switch.
 */
unsigned long waitprof_probe_missed(void)
{
	return waitprof_point_missed(&waitprof_schedule_point);
}
