/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RECORD: a task that blocks gets a slot, a task that runs again gives it
 * back, and what lies between is added to its row.
 *
 *	schedule entered -> site of the coming sleep --> this CPU's hand-off
 *	sched_switch ----> prev blocked? hand-off, or site found here --> slot
 *			   next has a slot? --> this CPU's cell += wait
 */
#ifndef _WAITPROF_RECORD_H
#define _WAITPROF_RECORD_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/types.h>
#include "compat/ftrace.h"
#include "compat/sched.h"
#include "table.h"

int waitprof_record_kprobe(struct kprobe *p, struct pt_regs *regs);
WAITPROF_FTRACE_HANDLER(waitprof_record_called);
WAITPROF_SWITCH_PROBE(waitprof_record_switch);

u64 waitprof_clock(void);
bool waitprof_clock_is_sched(void);

void waitprof_record_choose(void);
u64 waitprof_record_hits(void);
void waitprof_record_late(bool count);
void waitprof_record_forget(void);
void waitprof_record_scan(u64 since);

#endif /* _WAITPROF_RECORD_H */
