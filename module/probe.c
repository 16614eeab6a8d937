// SPDX-License-Identifier: GPL-2.0
/* PROBE: register and unregister. See probe.h. */

#include <linux/kernel.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include "point.h"
#include "probe.h"
#include "record.h"

static struct waitprof_calls waitprof_schedule_calls =
	WAITPROF_CALLS_INIT(waitprof_record_called);

/**
 * struct waitprof_entry - a function that enters __schedule() to sleep
 * @point: the probe on it
 * @required: without it, the hook is the switch probe alone
 *
 * Without its probe no wait is lost: the site is found at the switch, and is
 * late. schedule_rtlock(), where a sleeping spinlock of PREEMPT_RT is waited
 * for, can have none.
 */
struct waitprof_entry {
	struct waitprof_point point;
	bool required;
};

static struct waitprof_entry waitprof_entries[] = {
	{
		.point = {
			.symbol = "schedule",
			.calls = &waitprof_schedule_calls,
			.handler = waitprof_record_kprobe,
		},
		.required = true,
	}, {
		/* rt_mutexes, PI futexes with them, since 6.7 (6b596e62ed9f) */
		.point = {
			.symbol = "rt_mutex_schedule",
			.calls = &waitprof_schedule_calls,
			.handler = waitprof_record_kprobe,
		},
	},
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

static void waitprof_entries_stop(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(waitprof_entries); i++)
		waitprof_point_detach(&waitprof_entries[i].point);
}

/* Return: why schedule() is not probed; NULL if it is. */
static const char *waitprof_entries_start(void)
{
	const char *why = "kprobe-refused";
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(waitprof_entries); i++)
		if (waitprof_point_attach(&waitprof_entries[i].point) &&
		    waitprof_entries[i].required)
			goto out_stop;
	if (waitprof_schedule_reached())
		return NULL;
	why = "kprobe-not-reached";
out_stop:
	waitprof_entries_stop();
	return why;
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
		waitprof_state.why = waitprof_entries_start();
		if (waitprof_state.why)
			hook = WAITPROF_HOOK_SWITCH;
	}
	waitprof_state.hook = hook;
	waitprof_state.ftrace = waitprof_entries[0].point.ftrace;
	*since = waitprof_clock();
	err = tracepoint_probe_register(waitprof_switch_tp,
					waitprof_record_switch, NULL);
	if (err) {
		waitprof_entries_stop();
		return err;
	}
	if (hook == WAITPROF_HOOK_KPROBE)
		waitprof_record_late(true);
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
	waitprof_entries_stop();
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
 * waitprof_probe_missed() - hits that the kprobes could not take
 *
 * The site of such a sleep was found at the switch.
 */
unsigned long waitprof_probe_missed(void)
{
	unsigned long missed = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(waitprof_entries); i++)
		missed += waitprof_point_missed(&waitprof_entries[i].point);
	return missed;
}
