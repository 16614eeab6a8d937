// SPDX-License-Identifier: GPL-2.0
/* PROBE: which file ended a poll or select. See poll.h. */

#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/net.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/preempt.h>
#include <linux/wait.h>
#include "compat/regs.h"
#include "compat/socket.h"
#include "poll.h"
#include "point.h"
#include "site.h"
#include "slot.h"
#include "table.h"
#include "tracker.h"

static DEFINE_PER_CPU(u64, waitprof_poll_early);

/* The method that tells the state of a file; a socket's is its protocol's. */
static unsigned long waitprof_poll_method(struct file *file)
{
	struct socket *sock = waitprof_socket(file);
	const struct proto_ops *ops = sock ? READ_ONCE(sock->ops) : NULL;

	return ops && ops->poll ? (unsigned long)ops->poll :
				  (unsigned long)file->f_op->poll;
}

/* The entry of pollwake(), a wake-up function. The waker holds the lock of the
 * queue, so the entry stays in it, and he who polls in his system call.
 */
static void waitprof_poll_hit(struct pt_regs *regs)
{
	struct poll_table_entry *entry =
		container_of((wait_queue_entry_t *)waitprof_argument(regs, 0),
			     struct poll_table_entry, wait);
	void *key = (void *)waitprof_argument(regs, 3);
	struct poll_wqueues *pwq = entry->wait.private;
	struct waitprof_slot *s;
	u32 seq;

	/* As pollwake() will do, and as poll does before it sleeps. */
	if ((key && !(key_to_poll(key) & entry->key)) ||
	    READ_ONCE(pwq->triggered))
		return;
	s = waitprof_slot_asleep(pwq->polling_task, &seq);
	if (!s || !waitprof_row_polls(READ_ONCE(s->row))) {
		this_cpu_inc(waitprof_poll_early);
		return;
	}
	/* Behind the method's symbol, as a return address would be. */
	waitprof_slot_ended(s, seq,
			    waitprof_site_at(waitprof_poll_method(entry->filp) + 1));
}

static int waitprof_poll_kprobe(struct kprobe *p, struct pt_regs *regs)
{
	waitprof_poll_hit(regs);
	return 0;
}

NOKPROBE_SYMBOL(waitprof_poll_kprobe);

static WAITPROF_FTRACE_HANDLER(waitprof_poll_called)
{
	preempt_disable_notrace();
	waitprof_poll_hit(WAITPROF_FTRACE_REGS);
	preempt_enable_notrace();
}

NOKPROBE_SYMBOL(waitprof_poll_called);

static struct waitprof_calls waitprof_poll_calls =
	WAITPROF_CALLS_INIT(waitprof_poll_called);

static struct waitprof_point waitprof_poll_point = {
	.symbol = "pollwake",
	.calls = &waitprof_poll_calls,
	.handler = waitprof_poll_kprobe,
};

/**
 * waitprof_poll_start() - begin to tell which file ended a poll
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno, then it is as before.
 */
int waitprof_poll_start(void)
{
	return waitprof_point_attach(&waitprof_poll_point);
}

/**
 * waitprof_poll_stop() - no longer
 *
 * When it returns, no handler runs.
 *
 * Context: process, may sleep.
 */
void waitprof_poll_stop(void)
{
	waitprof_point_detach(&waitprof_poll_point);
}

/**
 * waitprof_poll_state() - what is known of the probe on pollwake()
 *
 * Context: process, may sleep.
 */
struct waitprof_poll_state waitprof_poll_state(void)
{
	struct waitprof_poll_state state = {
		.on = waitprof_poll_point.attached,
		.reached = waitprof_point_reached(&waitprof_poll_point),
		.err = waitprof_poll_point.err,
		.missed = waitprof_point_missed(&waitprof_poll_point),
	};
	int cpu;

	for_each_possible_cpu(cpu)
		state.early += READ_ONCE(per_cpu(waitprof_poll_early, cpu));
	return state;
}
