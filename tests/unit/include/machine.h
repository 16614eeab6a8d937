/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The recording half of the module, whole but for probe.c, and tasks that go
 * to sleep and wake. Time, CPU and stack are what the test says.
 */
#ifndef _MACHINE_H
#define _MACHINE_H

#include "shim.h"
#include "tap.h"
#include "world.h"
#include "primitives.c"
#include "table.c"
#include "site.c"
#include "slot.c"
#include "record.c"
#include "point.c"
#include "path.c"
#include "live.c"
#include "object.c"
#include "tracker.c"
#include "poll.c"
#include "snapshot.c"

/* In place of anchor.c: the world has its entries. */
void waitprof_tracker_anchor(void)
{
	struct pt_regs regs = { };

	shim_hit(world_addr(ANCHOR), &regs);
}

void waitprof_tracker_anchor_notrace(void)
{
	struct pt_regs regs = { };

	shim_hit(world_addr(ANCHOR_NOTRACE), &regs);
}

/* In place of probe.c. */
static int machine_start_err;
static bool machine_probing;
static unsigned int machine_starts;
static struct waitprof_probe_state machine_probe;
static unsigned long machine_missed;

int waitprof_probe_start(enum waitprof_hook hook, u64 *since)
{
	*since = waitprof_clock();
	if (machine_start_err)
		return machine_start_err;
	machine_starts++;
	machine_probing = true;
	machine_probe.hook = machine_probe.asked = hook;
	return 0;
}

void waitprof_probe_stop(void)
{
	machine_probing = false;
}

struct waitprof_probe_state waitprof_probe_state(void)
{
	return machine_probe;
}

unsigned long waitprof_probe_missed(void)
{
	return machine_missed;
}

/**
 * struct sleeper - a task with a stack
 * @t: the task
 * @stack: its stack
 * @probe: place of the switch probe's return address
 * @schedule: place of the return address of schedule()
 */
struct sleeper {
	struct task_struct t;
	struct world_stack stack;
	unsigned long *probe;
	unsigned long *schedule;
};

static struct sleeper machine_idle;	/* one for all CPUs: it never sleeps */

static void sleeper_init(struct sleeper *s, pid_t pid)
{
	if (!s->stack.word)
		world_stack_alloc(&s->stack);
	memset(&s->t, 0, sizeof(s->t));
	s->t.pid = pid;
	s->t.on_rq = 1;
}

/* Its next sleep will be in @func, by schedule_timeout(). */
static void sleeper_at(struct sleeper *s, int func)
{
	s->probe = world_stack(&s->stack, &s->t, 500,
			       CALLS({ DO_SCHEDULE, 9 }, { SCHEDULE, 3 },
				     { SCHEDULE_TIMEOUT, 12 }, { func, 8 },
				     { FUNCTIONS - 1, 8 }));
	s->schedule = s->probe + 12;
}

static void machine_switch(int cpu, u64 now, struct sleeper *prev,
			   struct sleeper *next, unsigned int state)
{
	shim_cpu = cpu;
	shim_clock = now;
	shim_current = &prev->t;
	shim_frame_address = prev->probe - 1;
#if WAITPROF_KERNEL_GEQ(5, 18)
	waitprof_record_switch(NULL, false, &prev->t, &next->t, state);
#else
	waitprof_record_switch(NULL, false, &prev->t, &next->t);
#endif
	shim_current = &next->t;
}

/* Who probes the entry of schedule(). */
static bool machine_ftrace;

static void machine_schedule(struct sleeper *s, int cpu, unsigned int state)
{
	struct kprobe p = {
		.addr = (void *)world_addr(SCHEDULE),
		.pre_handler = waitprof_record_kprobe,
	};
	struct pt_regs regs = { .sp = (unsigned long)s->schedule };

	shim_cpu = cpu;
	shim_current = &s->t;
	s->t.__state = state;
	if (machine_ftrace)
		shim_ftrace_call(waitprof_record_called, NULL,
				 world_addr(SCHEDULE), &regs);
	else
		shim_kprobe_hit(&p, &regs);
}

static void sleep_on(struct sleeper *s, int cpu, u64 now, unsigned int state)
{
	s->t.__state = state;
	s->t.on_rq = 0;
	machine_switch(cpu, now, s, &machine_idle, state);
}

static void wake_on(struct sleeper *s, int cpu, u64 now)
{
	s->t.__state = 0;
	s->t.on_rq = 1;
	machine_switch(cpu, now, &machine_idle, s, TASK_RUNNING);
}

static u32 row_of(int func, enum waitprof_class class, u32 flags)
{
	return waitprof_row(waitprof_site_get(world_ra(func)),
			    class * 4 + flags);
}

static struct waitprof_cell *cell_of(int cpu, u32 row)
{
	return &waitprof_cells(cpu, false)->cell[row];
}

/* The sum over CPUs and rows of what the running window has. */
static u64 counted(size_t offset)
{
	u64 sum = 0;
	u32 row;
	int cpu, i;

	for_each_possible_cpu(cpu) {
		for (row = 0; row < waitprof_rows_end(); row++) {
			struct waitprof_cell *c = cell_of(cpu, row);

			if (offset != offsetof(struct waitprof_cell, hist)) {
				sum += *(u64 *)((char *)c + offset);
				continue;
			}
			for (i = 0; i < WAITPROF_BUCKETS; i++)
				sum += c->hist[i];
		}
	}
	return sum;
}

#define COUNTED(field)	counted(offsetof(struct waitprof_cell, field))
#define WAITS		COUNTED(hist)

static u64 counter(size_t offset)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += *(u64 *)((char *)waitprof_cells(cpu, false) + offset);
	return sum;
}

#define COUNTER(field)	counter(offsetof(struct waitprof_cells, field))

static unsigned int in_flight(void)
{
	unsigned int i, n = 0;

	for (i = 0; i <= waitprof_slots_mask; i++)
		n += waitprof_slots[i].seq & 1;
	return n;
}

static void machine_reset(void)
{
	shim_percpu_reset();
	memset(waitprof_memo, 0, sizeof(waitprof_memo));
	memset(waitprof_shortcuts, 0, sizeof(waitprof_shortcuts));
	waitprof_check.on = false;
	waitprof_mono.on = false;
	waitprof_kprobe_on.on = false;
	shim_clock = 0;
	memset(shim_clock_off, 0, sizeof(shim_clock_off));
	shim_tasks = NULL;
	shim_cpu = 0;
	memset(waitprof_trackers, 0, sizeof(waitprof_trackers));
	memset(waitprof_shared, 0, sizeof(waitprof_shared));
	waitprof_serial = 0;
	waitprof_trackers_on = false;
	waitprof_live = NULL;
	sleeper_init(&machine_idle, 0);
	sleeper_at(&machine_idle, FUNCTIONS - 2);
}

#define MACHINE_PATHS	16

static void machine_load(unsigned int rows)
{
	machine_reset();
	if (waitprof_table_init(rows, rows + MACHINE_PATHS) ||
	    waitprof_site_init() || waitprof_slot_init(64) ||
	    waitprof_path_init(MACHINE_PATHS, 3) || waitprof_object_init(1, 0) ||
	    waitprof_tracker_init(16))
		abort();
	waitprof_record_choose();
}

static void machine_unload(void)
{
	waitprof_tracker_exit();
	waitprof_object_exit();
	waitprof_path_exit();
	waitprof_slot_exit();
	waitprof_site_exit();
	waitprof_table_exit();
}

static struct waitprof_sum *sum_of(struct waitprof_snapshot *snap, u32 row)
{
	return &snap->sums[row];
}

#endif /* _MACHINE_H */
