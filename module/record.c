// SPDX-License-Identifier: GPL-2.0
/* RECORD: the two ends of a wait. See record.h for the flow. */

#include <linux/jump_label.h>
#include <linux/math64.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include "record.h"
#include "site.h"
#include "slot.h"

/**
 * struct waitprof_handoff - what the probe on schedule() leaves for the switch on
 * its CPU
 * @task: whose sleep it is about; NULL if there is nothing
 * @call: tells this call of schedule() from others, see waitprof_call()
 * @ra: its return address
 * @state: the task's state then
 * @row: where the wait will be counted
 * @hits: how often that probe was reached at all
 *
 * Every hit of that probe and every switch on the CPU replaces or clears it.
 * So while it stands, the task has been running on this CPU without a break;
 * yet the sleep at hand need not be the one that it saw: schedule()
 * may have picked its caller again, and other functions enter __schedule() by
 * themselves. Hence @call.
 */
struct waitprof_handoff {
	struct task_struct *task;
	unsigned long call;
	unsigned long ra;
	unsigned int state;
	u32 row;
	u64 hits;
};

static DEFINE_PER_CPU(struct waitprof_handoff, waitprof_handoff);

/* The scheduler's clock is not one for all CPUs here. */
static DEFINE_STATIC_KEY_FALSE(waitprof_mono);
/* schedule() is probed: to find a site at the switch is late. */
static DEFINE_STATIC_KEY_FALSE(waitprof_kprobe_on);

static __always_inline u64 waitprof_now(void)
{
	if (static_branch_unlikely(&waitprof_mono))
		return ktime_get_mono_fast_ns();
	return cpu_clock(smp_processor_id());
}

/**
 * waitprof_clock() - the clock of waits and windows
 *
 * The scheduler's clock where that is one for all CPUs, else CLOCK_MONOTONIC.
 * Neither runs on while the machine is suspended.
 *
 * Return: ns.
 */
u64 waitprof_clock(void)
{
	u64 now;

	preempt_disable();
	now = waitprof_now();
	preempt_enable();
	return now;
}

/**
 * waitprof_clock_is_sched() - which clock it is
 */
bool waitprof_clock_is_sched(void)
{
	return !static_key_enabled(&waitprof_mono);
}

static __always_inline u32 waitprof_class(unsigned int state)
{
	if (likely(state & TASK_INTERRUPTIBLE))
		return WAITPROF_S;
	if (state & TASK_UNINTERRUPTIBLE)
		return state & TASK_NOLOAD ? WAITPROF_I : WAITPROF_D;
	if (state & __TASK_TRACED)
		return WAITPROF_TRACED;
	if (state & __TASK_STOPPED)
		return WAITPROF_T;
	if (state & TASK_PARKED)
		return WAITPROF_P;
	if (state & WAITPROF_TASK_RTLOCK)
		return WAITPROF_L;
	if (state & WAITPROF_TASK_FROZEN)
		return WAITPROF_F;
	return WAITPROF_D;
}

/* The state was overwritten by a waker: what is left of it. */
static __always_inline unsigned int waitprof_state_guess(struct task_struct *t)
{
	return t->sched_contributes_to_load ? TASK_UNINTERRUPTIBLE :
					      TASK_INTERRUPTIBLE;
}

static __always_inline u32 waitprof_kind(struct task_struct *t,
					 unsigned int state)
{
	return waitprof_class(state) * 4 +
	       (t->in_iowait ? WAITPROF_KIND_IO : 0) +
	       (t->flags & PF_KTHREAD ? WAITPROF_KIND_KERNEL : 0);
}

/* Return: whether there was a slot. */
static __always_inline bool
waitprof_begin(struct task_struct *t, u32 row, u64 now, u32 epoch)
{
	struct waitprof_slot *s = waitprof_place(t, 0);

	if (unlikely(cmpxchg(&s->task, NULL, t))) {
		s = waitprof_claim_next(t);
		if (!s)
			return false;
	}
	s->t0 = now;
#ifdef CONFIG_SCHED_INFO
	s->run_delay = t->sched_info.run_delay;
#endif
	s->row = row;
	s->epoch = epoch;
	s->pid = t->pid;
	s->method = 0;
	smp_wmb();	/* pairs with waitprof_slot_seqs() */
	s->seq++;
	return true;
}

/* The wait began in an earlier window. The time before this one was counted
 * there by waitprof_slot_close(), or is now: whoever changes the epoch.
 */
static noinline void waitprof_straddle(struct waitprof_slot *s,
				       struct waitprof_cells *cells)
{
	struct waitprof_cells *before = waitprof_cells(smp_processor_id(),
						       true);
	struct waitprof_cell *cell = &before->cell[s->row];

	if (cmpxchg(&s->epoch, cells->epoch - 1, cells->epoch) !=
	    cells->epoch - 1)
		return;
	cell->cut++;
	cell->cut_ns += cells->start - max(s->t0, before->start);
}

static __always_inline u32 waitprof_bucket(u64 ns)
{
	u32 b = __fls(div_u64(ns, NSEC_PER_USEC) | 1);

	return likely(b < WAITPROF_BUCKETS) ? b : WAITPROF_BUCKETS - 1;
}

static __always_inline u64 waitprof_runq(struct waitprof_slot *s,
					 struct task_struct *t, u64 now,
					 u64 len)
{
#ifdef CONFIG_SCHED_INFO
	u64 queued = t->sched_info.last_queued;
	s64 runq = t->sched_info.run_delay - s->run_delay;

	/* The scheduler adds this stretch only after the tracepoint. */
	if (static_branch_unlikely(&waitprof_mono))
		now = cpu_clock(smp_processor_id());
	if (queued)
		runq += now - queued;
	if (unlikely((u64)runq > len))
		runq = runq < 0 ? 0 : len;
	return runq;
#else
	return 0;
#endif
}

/* A file has ended this poll: it counts at that file's method. */
static noinline u32 waitprof_method_row(struct waitprof_slot *s)
{
	u32 site, kind;

	return waitprof_row_key(s->row, &site, &kind) ?
	       waitprof_row(s->method, kind) : s->row;
}

static __always_inline void waitprof_end(struct waitprof_slot *s,
					 struct task_struct *t,
					 struct waitprof_cells *cells, u64 now)
{
	u32 row = unlikely(s->method) ? waitprof_method_row(s) : s->row;
	struct waitprof_cell *cell = &cells->cell[row];
	u64 start = s->t0, len, runq;

	OPTIMIZER_HIDE_VAR(cell);	/* or its address is computed twice */

	if (unlikely(start < cells->start)) {
		waitprof_straddle(s, cells);
		start = cells->start;
	}
	len = now - start;
	if (unlikely((s64)len < 0)) {
		len = 0;
		cells->clock_steps++;
	}
	runq = waitprof_runq(s, t, now, len);

	/* Within the write of the cell, so that a reader who no longer finds
	 * the wait in flight finds it in the cell; and before the cell changes,
	 * so that one who finds it there too drops it from the flights. Pairs
	 * with waitprof_slot_seqs() and waitprof_flight_read().
	 */
	raw_write_seqcount_begin(&cells->seq);
	s->seq++;
	smp_wmb();	/* the same */
	cell->total_ns += len;
	cell->runq_ns += runq;
	if (len > cell->max_ns)
		cell->max_ns = len;
	cell->hist[waitprof_bucket(len)]++;
	raw_write_seqcount_end(&cells->seq);
	waitprof_slot_free(s);
}

/* A task is about to enter schedule(), at @ip; on its own stack, with preemption
 * off and, but for a kprobe that is a breakpoint, interrupts on.
 */
static __always_inline void waitprof_record_schedule(unsigned long ip,
						     struct pt_regs *regs)
{
	struct waitprof_handoff *h = this_cpu_ptr(&waitprof_handoff);
	struct task_struct *t = current;
	unsigned int state = waitprof_task_state(t);
	unsigned long *slot;

	h->hits++;
	if (!state) {
		WRITE_ONCE(h->task, NULL);
		return;
	}
	slot = waitprof_entry_slot(regs);
	h->call = waitprof_call(slot);
	h->ra = waitprof_ra(slot);
	h->state = state;
	h->row = waitprof_row(waitprof_site(slot, regs, ip),
			      waitprof_kind(t, state));
	WRITE_ONCE(h->task, t);
}

/**
 * waitprof_record_kprobe() - the handler of the kprobe on schedule()
 * @p: the kprobe
 * @regs: the registers at the entry
 *
 * Context: preemption is off.
 * Return: 0.
 */
int waitprof_record_kprobe(struct kprobe *p, struct pt_regs *regs)
{
	waitprof_record_schedule((unsigned long)p->addr, regs);
	return 0;
}

NOKPROBE_SYMBOL(waitprof_record_kprobe);

/*
 * The handler that ftrace calls at the entry of schedule().
 *
 * Context: any.
 */
WAITPROF_FTRACE_HANDLER(waitprof_record_called)
{
	preempt_disable_notrace();
	waitprof_record_schedule(ip, WAITPROF_FTRACE_REGS);
	preempt_enable_notrace();
}

NOKPROBE_SYMBOL(waitprof_record_called);

/* Has the probe on schedule() found the row of this sleep? @slot: place of the
 * return address of schedule(), or of what entered __schedule() in its place.
 */
static __always_inline bool waitprof_handed_off(struct waitprof_handoff *h,
						struct task_struct *t,
						unsigned int state,
						unsigned long *slot)
{
	return h->task == t && h->call == waitprof_call(slot) &&
	       (h->state == state || WAITPROF_STATE_LOST(state)) &&
	       h->ra == waitprof_ra(slot);
}

/* The row of a sleep; @ra: place of the return address of the switch probe. */
static __always_inline u32 waitprof_switch_row(struct task_struct *t,
					       unsigned int state,
					       struct waitprof_cells *cells,
					       unsigned long *ra)
{
	unsigned long *slot = waitprof_past_schedule(ra);

	if (static_branch_unlikely(&waitprof_kprobe_on)) {
		struct waitprof_handoff *h = this_cpu_ptr(&waitprof_handoff);

		if (likely(waitprof_handed_off(h, t, state, slot)))
			return h->row;
		cells->late++;
	}
	if (WAITPROF_STATE_LOST(state))
		state = waitprof_state_guess(t);
	return waitprof_row(waitprof_site(slot ?: ra, NULL, 0),
			    waitprof_kind(t, state));
}

/*
 * The sched_switch probe.
 *
 * Context: the run-queue lock is held and interrupts are off. No lock may be
 * taken here, nothing printed, nobody woken.
 */
WAITPROF_SWITCH_PROBE(waitprof_record_switch)
{
	unsigned int state = WAITPROF_PREV_STATE;
	struct waitprof_slot *slot = waitprof_slot_find(next);
	struct waitprof_cells *cells;
	u64 now;

	if (!state && !slot)
		goto out;
	/* The window before the clock, so that a new one is never older than
	 * its beginning. Pairs with waitprof_cells_swap().
	 */
	cells = this_cpu_read(waitprof_active);
	now = waitprof_now();
	if (state && !(state & TASK_DEAD) && waitprof_switch_blocked(prev, preempt)) {
		unsigned long *ra =
			(unsigned long *)__builtin_frame_address(0) + 1;
		u32 row = waitprof_switch_row(prev, state, cells, ra);

		if (unlikely(!waitprof_begin(prev, row, now, cells->epoch)))
			cells->no_slot++;
	}
	if (slot)
		waitprof_end(slot, next, cells, now);
out:
	this_cpu_write(waitprof_handoff.task, NULL);
}

NOKPROBE_SYMBOL(waitprof_record_switch);

/**
 * waitprof_record_hits() - how often the entry of schedule() was seen
 *
 * Return: the sum over CPUs, since the module was loaded.
 */
u64 waitprof_record_hits(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(waitprof_handoff, cpu).hits);
	return sum;
}

/**
 * waitprof_record_late() - is a site that is found at the switch late?
 * @count: yes: schedule() is probed
 *
 * Context: process, may sleep.
 */
void waitprof_record_late(bool count)
{
	if (count)
		static_branch_enable(&waitprof_kprobe_on);
	else
		static_branch_disable(&waitprof_kprobe_on);
}

/**
 * waitprof_record_forget() - forget what the probe on schedule() has left
 *
 * Context: process; no probe runs.
 */
void waitprof_record_forget(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(waitprof_handoff, cpu).task = NULL;
}

static void waitprof_scan_task(struct task_struct *t, u64 since)
{
	struct waitprof_cells *cells;
	unsigned int state;
	unsigned long flags;
	int running;
	u32 row;

	/* A wake-up takes this lock first. With it held, a task that is off
	 * its CPU and off the queue stays so, and its stack does not change;
	 * but for TASK_WAKING: such a task is on its way to a queue by a list
	 * that no longer needs the lock.
	 */
	raw_spin_lock_irqsave(&t->pi_lock, flags);
	state = waitprof_task_state(t);
	/* Pairs with the release in finish_task(): a switch that is over has
	 * left its slot.
	 */
	running = smp_load_acquire(&t->on_cpu);
	if (state && !(state & (TASK_DEAD | TASK_WAKING | TASK_NEW)) &&
	    !running && waitprof_task_blocked(t) && !waitprof_slot_find(t)) {
		row = waitprof_row(waitprof_site_asleep(t),
				   waitprof_kind(t, state));
		cells = this_cpu_read(waitprof_active);
		if (!waitprof_begin(t, row, since, cells->epoch))
			cells->no_slot++;
	}
	raw_spin_unlock_irqrestore(&t->pi_lock, flags);
}

/**
 * waitprof_record_scan() - give a slot to each task that is asleep already
 * @since: when the switch probe was registered, ns of waitprof_clock()
 *
 * To be called when the switch probe runs on all CPUs. Who has no slot then has
 * been asleep since before it was registered; that is when his wait begins.
 *
 * Context: process.
 */
void waitprof_record_scan(u64 since)
{
	struct task_struct *p, *t;

	rcu_read_lock();
	for_each_process_thread(p, t)
		waitprof_scan_task(t, since);
	rcu_read_unlock();
}

/**
 * waitprof_record_choose() - choose the clock
 *
 * Context: process, may sleep; no wait is in progress.
 */
void waitprof_record_choose(void)
{
	if (waitprof_sched_clock_good())
		static_branch_disable(&waitprof_mono);
	else
		static_branch_enable(&waitprof_mono);
}
