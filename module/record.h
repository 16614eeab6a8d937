/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RECORD: a task that blocks gets a slot, a task that runs again gives it
 * back, and what lies between is added to its row.
 *
 *	kprobe schedule --> site of the coming sleep --> this CPU's hand-off
 *	sched_switch ----> prev blocked? hand-off, or site found here --> slot
 *			   next has a slot? --> this CPU's cell += wait
 *
 * A slot lives exactly while its task is blocked, so it cannot outlive it. The
 * two ends of a wait run on two CPUs; that the second sees what the first
 * wrote rides on the scheduler's own ordering: a task is not run elsewhere
 * before its on_cpu was released (finish_task()) and acquired (the waker).
 *
 * Whoever looks at a slot from outside goes by its sequence number: odd while
 * the task is blocked, and another number for each wait.
 */
#ifndef _WAITPROF_RECORD_H
#define _WAITPROF_RECORD_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/types.h>
#include "compat/sched.h"
#include "table.h"

#define WAITPROF_SLOTS_MIN	64u
#define WAITPROF_SLOTS_AUTO	65536u	/* what memory decides, at most: 4 MiB */
#define WAITPROF_SLOTS_MAX	4194304u	/* as many as there are pids */

/**
 * struct waitprof_slot - a wait in progress
 * @task: whose it is; claimed by compare-and-swap
 * @t0: when it began, ns of waitprof_clock()
 * @run_delay: the task's sched_info.run_delay at that time
 * @seq: odd while the wait is in progress
 * @row: where it will be counted
 * @epoch: number of the last window that has counted a part of it
 * @pid: of the task, in the initial namespace
 * @displaced: how many tasks whose first choice is this slot are elsewhere
 */
struct waitprof_slot {
	struct task_struct *task;
	u64 t0;
	u64 run_delay;
	u32 seq;
	u32 row;
	u32 epoch;
	pid_t pid;
	atomic_t displaced;
} __aligned(64);

/**
 * struct waitprof_flight - a wait in progress, as a reader sees it
 * @row: where it will be counted
 * @pid: of the task
 * @t0: when it began, ns of waitprof_clock()
 */
struct waitprof_flight {
	u32 row;
	pid_t pid;
	u64 t0;
};

/* Called for a wait in progress. */
typedef void (*waitprof_flight_fn)(const struct waitprof_flight *f, void *data);

void waitprof_record_schedule(struct pt_regs *regs, unsigned long ip);
WAITPROF_SWITCH_PROBE(waitprof_record_switch);

u64 waitprof_clock(void);
bool waitprof_clock_is_sched(void);

int waitprof_record_init(unsigned int slots);
void waitprof_record_exit(void);
u64 waitprof_record_bytes(void);
unsigned int waitprof_record_slots(void);

u64 waitprof_record_kprobe_hits(void);
void waitprof_record_late(bool count);
void waitprof_record_scan(void);
void waitprof_record_seqs(u32 *seqs);
u64 waitprof_record_flights(const u32 *seqs, waitprof_flight_fn fn, void *data);
void waitprof_record_close(u64 now, waitprof_flight_fn fn, void *data);
void waitprof_record_cut(u64 now, u64 *cut, u64 *cut_ns);

#endif /* _WAITPROF_RECORD_H */
