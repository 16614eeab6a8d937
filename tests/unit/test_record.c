// SPDX-License-Identifier: GPL-2.0
/* The two ends of a wait, the hand-off, and windows. */

#include "machine.h"

static struct sleeper a, b;

static void load(void)
{
	machine_load(32);
	sleeper_init(&a, 101);
	sleeper_init(&b, 102);
	sleeper_at(&a, PIPE_READ);
	sleeper_at(&b, BREAD);
}

static void test_wait(void)
{
	struct waitprof_cell *c;
	struct waitprof_slot *s;
	u32 row;

	load();
	sleep_on(&a, 1, 1000, TASK_INTERRUPTIBLE);
	row = row_of(PIPE_READ, WAITPROF_S, 0);
	s = waitprof_slot_find(&a.t);
	ok(s && s->row == row && s->t0 == 1000 && s->pid == 101 && s->seq & 1,
	   "a task that blocks has a slot");
	is(WAITS, 0, "and is not counted yet");
	wake_on(&a, 2, 5001000);
	ok(!waitprof_slot_find(&a.t) && !(s->seq & 1) && s->seq,
	   "one that runs again has none");
	c = cell_of(2, row);
	is(c->total_ns, 5000000, "its time stands on the CPU where it ended");
	is(c->max_ns, 5000000, "it is the longest");
	is(c->hist[12], 1, "it is 5000 us: bucket 12");
	is(WAITS, 1, "one wait in all");
	is(waitprof_cells(2, false)->seq.sequence & 1, 0,
	   "the cells are not being written");
	wake_on(&a, 2, 9000000);
	is(WAITS, 1, "running again without a wait is none");

	sleep_on(&a, 2, 10000000, TASK_INTERRUPTIBLE);
	wake_on(&a, 2, 10001000);
	is(c->total_ns, 5001000, "times add up");
	is(c->max_ns, 5000000, "the longest stays");

	/* Both ends in one switch. */
	sleep_on(&b, 0, 20000000, TASK_UNINTERRUPTIBLE);
	a.t.__state = TASK_INTERRUPTIBLE;
	a.t.on_rq = 0;
	b.t.__state = 0;
	machine_switch(3, 20400000, &a, &b, TASK_INTERRUPTIBLE);
	is(cell_of(3, row_of(BREAD, WAITPROF_D, 0))->total_ns, 400000,
	   "one ends");
	ok(waitprof_slot_find(&a.t) && !waitprof_slot_find(&b.t),
	   "as another begins");
	machine_unload();
}

static void test_no_wait(void)
{
	load();
	a.t.__state = TASK_INTERRUPTIBLE;
	a.t.on_rq = 1;
	machine_switch(0, 1000, &a, &machine_idle, TASK_INTERRUPTIBLE);
	ok(!waitprof_slot_find(&a.t), "preempted on its way to sleep: no wait");
	a.t.__state = 0;
	machine_switch(0, 1000, &a, &machine_idle, 0);
	ok(!waitprof_slot_find(&a.t), "preempted or yielding: no wait");
	sleep_on(&a, 0, 1000, TASK_DEAD);
	ok(!waitprof_slot_find(&a.t), "dead: no wait");
#if WAITPROF_KERNEL_GEQ(6, 12)
	a.t.__state = TASK_INTERRUPTIBLE;
	a.t.on_rq = 1;
	a.t.se.sched_delayed = 1;
	machine_switch(0, 1000, &a, &machine_idle, TASK_INTERRUPTIBLE);
	ok(waitprof_slot_find(&a.t), "still queued, but asleep: a wait");
	a.t.se.sched_delayed = 0;
#endif
	machine_unload();
}

static void test_classes(void)
{
	static const struct {
		unsigned int state;
		enum waitprof_class class;
	} states[] = {
		{ TASK_INTERRUPTIBLE, WAITPROF_S },
		{ TASK_INTERRUPTIBLE | TASK_WAKEKILL, WAITPROF_S },
		{ TASK_UNINTERRUPTIBLE, WAITPROF_D },
		{ TASK_KILLABLE, WAITPROF_D },
		{ TASK_IDLE, WAITPROF_I },
		{ __TASK_STOPPED | TASK_WAKEKILL, WAITPROF_T },
		{ __TASK_TRACED | TASK_WAKEKILL, WAITPROF_TRACED },
		{ __TASK_TRACED | __TASK_STOPPED, WAITPROF_TRACED },
		{ TASK_PARKED, WAITPROF_P },
		{ TASK_RTLOCK_WAIT, WAITPROF_L },
		{ TASK_FROZEN, WAITPROF_F },
	};
	unsigned int i;

	load();
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		u32 row = row_of(PIPE_READ, states[i].class, 0);
		u64 before = COUNTED(total_ns);
		u64 own = cell_of(0, row)->total_ns;

		sleep_on(&a, 0, 1000, states[i].state);
		wake_on(&a, 0, 1100);
		ok(cell_of(0, row)->total_ns - own == 100 &&
		   COUNTED(total_ns) - before == 100,
		   "state 0x%x is class %d", states[i].state, states[i].class);
	}
#if !WAITPROF_KERNEL_GEQ(5, 18)
	/* A waker came first. */
	for (i = 0; i < 2; i++) {
		u32 row = row_of(PIPE_READ, i ? WAITPROF_D : WAITPROF_S, 0);
		u64 own = cell_of(0, row)->total_ns;

		a.t.sched_contributes_to_load = i;
		sleep_on(&a, 0, 1000, TASK_WAKING);
		wake_on(&a, 0, 1100);
		is(cell_of(0, row)->total_ns - own, 100,
		   "overwritten by the waker: %s by load", i ? "D" : "S");
	}
#endif
	for (i = 0; i < 4; i++) {
		u32 row = row_of(BREAD, WAITPROF_D, i);

		b.t.in_iowait = !!(i & WAITPROF_KIND_IO);
		b.t.flags = i & WAITPROF_KIND_KERNEL ? PF_KTHREAD : 0;
		sleep_on(&b, 0, 1000, TASK_UNINTERRUPTIBLE);
		b.t.in_iowait = 0;	/* as it is when it ends */
		wake_on(&b, 0, 1001 + i);
		is(cell_of(0, row)->total_ns, 1 + i, "io %u, kernel %u", i >> 1,
		   i & 1);
	}
	machine_unload();
}

static void test_buckets(void)
{
	static const struct {
		u64 ns;
		u32 bucket;
	} lengths[] = {
		{ 0, 0 }, { 1, 0 }, { 999, 0 }, { 1000, 0 }, { 1999, 0 },
		{ 2000, 1 }, { 3999, 1 }, { 4000, 2 }, { 7999, 2 }, { 8000, 3 },
		{ 1023999, 9 }, { 1024000, 10 }, { 1000000000, 19 },
		{ (1ull << 31) * 1000 - 1, 30 }, { (1ull << 31) * 1000, 31 },
		{ (1ull << 32) * 1000, 31 }, { (1ull << 40) * 1000, 31 },
		{ 1ull << 62, 31 }, { (1ull << 63) - 1, 31 },
	};
	u32 row, i, j, wrong = 0, n = 0;
	u64 sum = 0;

	load();
	row = row_of(PIPE_READ, WAITPROF_S, 0);
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		u64 before[WAITPROF_BUCKETS];

		memcpy(before, cell_of(0, row)->hist, sizeof(before));
		sleep_on(&a, 0, 77, TASK_INTERRUPTIBLE);
		wake_on(&a, 0, 77 + lengths[i].ns);
		sum += lengths[i].ns;
		for (j = 0; j < WAITPROF_BUCKETS; j++)
			wrong += cell_of(0, row)->hist[j] - before[j] !=
				 (j == lengths[i].bucket);
		is(wrong, 0, "%llu ns are in bucket %u", lengths[i].ns,
		   lengths[i].bucket);
	}
	for (j = 0; j < WAITPROF_BUCKETS; j++)
		n += cell_of(0, row)->hist[j];
	is(n, ARRAY_SIZE(lengths), "the buckets add up to the waits");
	is(COUNTED(total_ns), sum, "and the times, near 2^64");
	is(COUNTER(clock_steps), 0, "no clock went back");
	machine_unload();
}

/* Field case B4: an end before its beginning. */
static void test_clock_steps(void)
{
	u32 row;

	load();
	row = row_of(PIPE_READ, WAITPROF_S, 0);
	sleep_on(&a, 0, 1000, TASK_INTERRUPTIBLE);
	a.t.sched_info.run_delay = 500;
	wake_on(&a, 1, 990);
	is(cell_of(1, row)->total_ns, 0, "B4: 1000 to 990 is 0");
	is(cell_of(1, row)->max_ns + cell_of(1, row)->runq_ns, 0,
	   "B4: in every field");
	is(cell_of(1, row)->hist[0], 1, "B4: yet a wait");
	is(COUNTER(clock_steps), 1, "B4: and a clock step");

	/* A window that begins later than its first wait ends. */
	waitprof_record_choose();
	sleep_on(&a, 0, 2000, TASK_INTERRUPTIBLE);
	shim_clock = 3000;
	waitprof_snapshot_close(NULL);
	shim_clock_off[2] = -500;
	wake_on(&a, 2, 3100);
	is(cell_of(2, row)->total_ns, 0, "B4: an end before the window is 0");
	is(COUNTER(clock_steps), 1, "B4: and a clock step");

	/* A beginning before the window, by the clock. */
	shim_clock_off[3] = -5000;
	sleep_on(&b, 3, 7000, TASK_INTERRUPTIBLE);
	shim_clock_off[3] = 0;
	wake_on(&b, 3, 7100);
	is(COUNTED(max_ns) <= 4100, 1, "B4: no wait is older than the window");
	machine_unload();
}

static u64 runq(u64 delay0, u64 delay1, u64 queued, u64 t0, u64 t1)
{
	u64 before = COUNTED(runq_ns);

	a.t.sched_info.run_delay = delay0;
	sleep_on(&a, 0, t0, TASK_INTERRUPTIBLE);
	a.t.sched_info.run_delay = delay1;
	a.t.sched_info.last_queued = queued;
	wake_on(&a, 1, t1);
	a.t.sched_info.last_queued = 0;
	return COUNTED(runq_ns) - before;
}

static void test_runq(void)
{
	load();
	is(runq(0, 0, 0, 1000, 2000), 0, "run queue: never queued");
	is(runq(0, 0, 1700, 1000, 2000), 300, "run queue: since it was queued");
	is(runq(50, 70, 1700, 1000, 2000), 320,
	   "run queue: and before a migration");
	is(runq(50, 70, 0, 1000, 2000), 20, "run queue: only before it");
	is(runq(0, 0, 500, 1000, 2000), 1000, "run queue: at most the wait");
	is(runq(0, 5000, 1700, 1000, 2000), 1000,
	   "run queue: at most the wait, however delayed");
	is(runq(0, 0, 2500, 1000, 2000), 0, "run queue: never negative");
	is(runq(70, 50, 0, 1000, 2000), 0, "run queue: nor if the delay falls");
	is(runq(0, 1000, 0, 1000, 2000), 1000, "run queue: all of it");
	is(runq(0, 1ull << 63, 0, 1000, 2000) <= 1000, 1,
	   "run queue: at most the wait, even by nonsense");
	sleep_on(&a, 0, 1000, TASK_INTERRUPTIBLE);
	shim_clock = 1800;
	waitprof_snapshot_close(NULL);
	a.t.sched_info.last_queued = 1500;
	wake_on(&a, 1, 2000);
	is(COUNTED(runq_ns), 200, "run queue: clipped to the window");

	/* Lengths by another clock than the scheduler's. */
	a.t.sched_info.last_queued = 0;
	shim_tsc_unstable = true;
	waitprof_record_choose();
	ok(!waitprof_clock_is_sched(), "an unstable clock is not used");
	shim_mono = 1000000;
	is(waitprof_clock(), 1000000, "but the monotonic one");
	sleep_on(&a, 0, 5, TASK_INTERRUPTIBLE);
	shim_mono += 4000;
	a.t.sched_info.last_queued = 6000;
	shim_clock_off[3] = 5;
	wake_on(&a, 3, 7000);
	is(cell_of(3, row_of(PIPE_READ, WAITPROF_S, 0))->total_ns, 4000,
	   "the wait by the one");
	is(cell_of(3, row_of(PIPE_READ, WAITPROF_S, 0))->runq_ns, 1005,
	   "the run queue by the other");
	shim_tsc_unstable = false;
	machine_unload();
}

static struct waitprof_handoff *handoff(int cpu)
{
	return per_cpu_ptr(&waitprof_handoff, cpu);
}

/* The probe on schedule() saw @a in pipe_read(); before the switch the frame above was
 * changed, so that only the hand-off can still lead there.
 */
static void handed(void)
{
	load();
	/* the switch probe must know its frames */
	sleep_on(&b, 0, 10, TASK_INTERRUPTIBLE);
	wake_on(&b, 0, 20);
	waitprof_record_late(true);
	machine_schedule(&a, 0, TASK_INTERRUPTIBLE);
	a.schedule[12] = world_ra(SITES);
	a.stack.frame[3].ra = world_ra(SITES);
}

static u32 row_in_flight(struct sleeper *s)
{
	struct waitprof_slot *slot = waitprof_slot_find(&s->t);

	return slot ? slot->row : 0;
}

static void test_handoff(void)
{
	u32 handed_row, found_row;
	u64 hits;

	handed();
	handed_row = row_of(PIPE_READ, WAITPROF_S, 0);
	sleep_on(&a, 0, 1000, TASK_INTERRUPTIBLE);
	is(row_in_flight(&a), handed_row, "all agrees: the site of the probe on schedule()");
	is(COUNTER(late), 0, "which is not late");
	ok(!handoff(0)->task, "it is used once");
	is(waitprof_record_hits(), 1, "hits are counted");
	machine_unload();

	handed();
	found_row = row_of(SITES, WAITPROF_S, 0);
	handoff(0)->task = &b.t;
	sleep_on(&a, 0, 1000, TASK_INTERRUPTIBLE);
	is(row_in_flight(&a), found_row, "another task's: found at the switch");
	is(COUNTER(late), 1, "and late");
	machine_unload();

	handed();
	sleep_on(&a, 0, 1000, TASK_UNINTERRUPTIBLE);
	is(row_in_flight(&a), row_of(SITES, WAITPROF_D, 0),
	   "another state: found at the switch");
	is(COUNTER(late), 1, "and late");
	machine_unload();

	handed();
	found_row = row_of(SITES, WAITPROF_S, 0);
	*a.schedule = world_ra(IO_SCHEDULE);
	a.stack.frame[2].ra = world_ra(IO_SCHEDULE);
	sleep_on(&a, 0, 1000, TASK_INTERRUPTIBLE);
	is(row_in_flight(&a), found_row,
	   "another return address there: found at the switch");
	is(COUNTER(late), 1, "and late");
	machine_unload();

	handed();
	a.probe = world_stack(&a.stack, &a.t, 400,
			      CALLS({ DO_SCHEDULE, 9 }, { SCHEDULE, 3 },
				    { SCHEDULE_TIMEOUT, 12 }, { BREAD, 8 }));
	sleep_on(&a, 0, 1000, TASK_INTERRUPTIBLE);
	is(row_in_flight(&a), row_of(BREAD, WAITPROF_S, 0),
	   "another place on the stack: found at the switch");
	is(COUNTER(late), 1, "and late");
	machine_unload();

	/* One who enters __schedule() by itself, while the words of the frame
	 * that the probe saw are still there.
	 */
	handed();
	a.probe = world_stack(&a.stack, &a.t, 480,
			      CALLS({ DO_SCHEDULE, 9 },
				    { SCHEDULE_TIMEOUT, 30 }, { BREAD, 8 }));
	*a.schedule = world_ra(SCHEDULE_TIMEOUT);
	sleep_on(&a, 0, 1000, TASK_INTERRUPTIBLE);
	is(row_in_flight(&a), row_of(BREAD, WAITPROF_S, 0),
	   "not through schedule(): found at the switch");
	is(COUNTER(late), 1, "and late");
	machine_unload();

	handed();
	found_row = row_of(SITES, WAITPROF_S, 0);
	sleep_on(&a, 1, 1000, TASK_INTERRUPTIBLE);
	is(row_in_flight(&a), found_row, "on another CPU: found at the switch");
	is(COUNTER(late), 1, "and late");
	machine_unload();

	/* Preempted in between, and back. */
	handed();
	machine_switch(0, 900, &a, &b, TASK_INTERRUPTIBLE);
	ok(!handoff(0)->task, "any switch clears it");
	machine_switch(0, 950, &b, &a, 0);
	found_row = row_of(SITES, WAITPROF_S, 0);
	sleep_on(&a, 0, 1000, TASK_INTERRUPTIBLE);
	is(row_in_flight(&a), found_row, "preempted and back: found at the switch");
	machine_unload();

	/* schedule() without a sleep. */
	handed();
	hits = waitprof_record_hits();
	machine_schedule(&a, 0, TASK_RUNNING);
	ok(!handoff(0)->task, "a hit without a state clears it");
	is(waitprof_record_hits(), hits + 1, "and is a hit");
	machine_schedule(&b, 3, TASK_INTERRUPTIBLE);
	is(waitprof_record_hits(), hits + 2, "as is one elsewhere");
	waitprof_record_late(false);
	waitprof_record_forget();
	ok(!handoff(3)->task, "none is left when the probe goes");
	machine_unload();

	handed();
	waitprof_kprobe_on.on = false;
	found_row = row_of(SITES, WAITPROF_S, 0);
	sleep_on(&a, 0, 1000, TASK_INTERRUPTIBLE);
	is(row_in_flight(&a), found_row, "hook=switch: found at the switch");
	is(COUNTER(late), 0, "and never late");
	machine_unload();

	/* The first sleep, before the switch probe knows its frames. */
	load();
	waitprof_record_late(true);
	machine_schedule(&a, 0, TASK_INTERRUPTIBLE);
	sleep_on(&a, 0, 1000, TASK_INTERRUPTIBLE);
	is(row_in_flight(&a), row_of(PIPE_READ, WAITPROF_S, 0),
	   "the first sleep has its site too");
	is(COUNTER(late), 0, "and is not late");
	machine_unload();
}

static void test_no_slot(void)
{
	static struct task_struct many[64];
	unsigned int i;

	load();
	for (i = 0; i < 64; i++) {
		waitprof_slots[i].task = &many[i];
		waitprof_slots[i].seq = 1;
	}
	sleep_on(&a, 2, 1000, TASK_INTERRUPTIBLE);
	ok(!waitprof_slot_find(&a.t), "no slot is free");
	is(waitprof_cells(2, false)->no_slot, 1, "that is counted");
	wake_on(&a, 2, 2000);
	is(WAITS, 0, "and nothing else");
	machine_unload();
}

static void test_scan(void)
{
	static struct sleeper s[9];
	unsigned int i, locked = 0;
	struct waitprof_slot *slot;

	load();
	for (i = 0; i < ARRAY_SIZE(s); i++) {
		sleeper_init(&s[i], 200 + i);
		sleeper_at(&s[i], SITES + i);
		s[i].t.__state = TASK_INTERRUPTIBLE;
		s[i].t.on_rq = 0;
		s[i].t.shim_next = shim_tasks;
		shim_tasks = &s[i].t;
	}
	s[1].t.on_cpu = 1;
	s[2].t.on_rq = 1;
	s[3].t.__state = TASK_WAKING;
	s[4].t.__state = TASK_DEAD;
	s[5].t.__state = TASK_NEW;
	s[6].t.__state = 0;
	sleep_on(&s[7], 0, 1000, TASK_INTERRUPTIBLE);
	s[8].t.nframes = 0;
	s[8].t.flags = PF_KTHREAD;
	s[8].t.__state = TASK_IDLE;
	shim_clock = 5000;
	shim_cpu = 1;
	waitprof_record_scan(waitprof_clock());
	slot = waitprof_slot_find(&s[0].t);
	ok(slot && slot->t0 == 5000 &&
	   slot->row == row_of(SITES, WAITPROF_S, 0) && slot->seq & 1,
	   "scan: a sleeper begins to wait now");
	for (i = 1; i < 7; i++)
		ok(!waitprof_slot_find(&s[i].t), "scan: no sleeper: %u", i);
	slot = waitprof_slot_find(&s[7].t);
	ok(slot && slot->t0 == 1000, "scan: who has a slot keeps it");
	is(in_flight(), 3, "scan: and gets no second");
	slot = waitprof_slot_find(&s[8].t);
	is(slot ? slot->row : 0,
	   waitprof_row(WAITPROF_SITE_UNKNOWN,
			WAITPROF_I * 4 + WAITPROF_KIND_KERNEL),
	   "scan: where the stack cannot be read, (unknown)");
	for (i = 0; i < ARRAY_SIZE(s); i++)
		locked += s[i].t.pi_lock.locked;
	is(locked, 0, "scan: no lock is left");
	wake_on(&s[0], 2, 5700);
	is(COUNTED(total_ns), 700, "scan: its wait ends like any");

	for (i = 0; i < 64; i++)
		if (!waitprof_slots[i].task)
			waitprof_slots[i].task = &a.t;
	s[0].t.__state = TASK_INTERRUPTIBLE;
	s[0].t.on_rq = 0;
	waitprof_record_scan(waitprof_clock());
	is(COUNTER(no_slot), 1, "scan: no slot is counted");
	for (i = 0; i < ARRAY_SIZE(s); i++)
		free(s[i].stack.word);
	machine_unload();
}

/* Windows. */

static struct waitprof_snapshot *close_window(u64 now)
{
	struct waitprof_snapshot *snap = waitprof_snapshot_alloc();

	shim_clock = now;
	waitprof_snapshot_close(snap);
	return snap;
}

static struct waitprof_snapshot *take(u64 now)
{
	struct waitprof_snapshot *snap = waitprof_snapshot_alloc();

	shim_clock = now;
	waitprof_snapshot_take(snap);
	return snap;
}

static void is_sum(struct waitprof_snapshot *snap, u64 waits, u64 total,
		   u64 flights, u64 flight_ns, const char *name)
{
	struct waitprof_sum *s = sum_of(snap, row_of(PIPE_READ, WAITPROF_S, 0));

	is(s->waits, waits, "%s: waits", name);
	is(s->total_ns, total, "%s: their time", name);
	is(s->in_flight, flights, "%s: in flight", name);
	is(s->in_flight_ns, flight_ns, "%s: their time so far", name);
	waitprof_snapshot_free(snap);
}

static unsigned int rcu_calls;
static int end_in_call;
static u64 end_at;

static void end_in_rcu(void)
{
	if (++rcu_calls == end_in_call)
		wake_on(&a, 2, end_at);
}

/* A wait that straddles a reset. @when: it ends after the reset is over (0),
 * after the swap but before the slots are gone through (1), or after that but
 * before the window is summed (2).
 */
static void test_straddle(int when)
{
	static const char * const names[] = {
		"after the reset", "ender first", "resetter first",
	};
	char name[40];

	load();
	sleep_on(&a, 1, 1000, TASK_INTERRUPTIBLE);
	rcu_calls = 0;
	end_in_call = when;
	end_at = 5000;
	shim_on_rcu = end_in_rcu;
	sprintf(name, "%s, window 1", names[when]);
	is_sum(close_window(5000), 0, 0, 1, 4000, name);
	shim_on_rcu = NULL;
	if (!when)
		wake_on(&a, 2, 5600);
	sprintf(name, "%s, window 2", names[when]);
	is_sum(take(6000), 1, when ? 0 : 600, 0, 0, name);
	sprintf(name, "%s, window 2 closed", names[when]);
	is_sum(close_window(7000), 1, when ? 0 : 600, 0, 0, name);
	sprintf(name, "%s, window 3", names[when]);
	is_sum(take(8000), 0, 0, 0, 0, name);
	is(COUNTER(clock_steps), 0, "%s: no clock step", names[when]);
	machine_unload();
}

/* Two resets during one wait, which ends during or after the second. */
static void test_straddle_two(int when)
{
	static const char * const names[] = {
		"two resets, after both", "two resets, ender first",
		"two resets, resetter first",
	};
	struct waitprof_snapshot *snap;
	char name[60];

	load();
	sleep_on(&a, 1, 1000, TASK_INTERRUPTIBLE);
	sprintf(name, "%s, window 1", names[when]);
	is_sum(close_window(3000), 0, 0, 1, 2000, name);
	snap = take(4000);
	is(sum_of(snap, row_of(PIPE_READ, WAITPROF_S, 0))->oldest_ns, 3000,
	   "%s: its age is the true one", names[when]);
	sprintf(name, "%s, window 2 running", names[when]);
	is_sum(snap, 0, 0, 1, 1000, name);
	rcu_calls = 0;
	end_in_call = when;
	end_at = 5000;
	shim_on_rcu = end_in_rcu;
	sprintf(name, "%s, window 2", names[when]);
	is_sum(close_window(5000), 0, 0, 1, 2000, name);
	shim_on_rcu = NULL;
	if (!when)
		wake_on(&a, 2, 5700);
	sprintf(name, "%s, window 3", names[when]);
	is_sum(take(9000), 1, when ? 0 : 700, 0, 0, name);
	machine_unload();
}

/* The closest shave: one has looked at the epoch, the other changes it. */
static void end_once(void)
{
	shim_on_cmpxchg = NULL;
	wake_on(&a, 2, 5000);
}

static struct waitprof_snapshot *closing;

static void close_once(void)
{
	shim_on_cmpxchg = NULL;
	waitprof_slot_close(5000, waitprof_cells(0, false)->epoch,
			    waitprof_sum_flight, closing);
}

static void sleep_again(void)
{
	end_once();
	sleep_on(&a, 2, 5000, TASK_INTERRUPTIBLE);
}

static void test_close_shave(void)
{
	load();
	sleep_on(&a, 1, 1000, TASK_INTERRUPTIBLE);
	shim_on_cmpxchg = end_once;
	is_sum(close_window(5000), 0, 0, 1, 4000, "ended under the resetter");
	is_sum(take(6000), 1, 0, 0, 0, "ended under the resetter, after");
	machine_unload();

	load();
	sleep_on(&a, 1, 1000, TASK_INTERRUPTIBLE);
	shim_on_cmpxchg = sleep_again;
	is_sum(close_window(5000), 0, 0, 1, 4000, "another wait in the slot");
	is_sum(take(6000), 1, 0, 1, 1000, "another wait in the slot, after");
	machine_unload();

	load();
	sleep_on(&a, 1, 1000, TASK_INTERRUPTIBLE);
	closing = waitprof_snapshot_alloc();
	waitprof_cells_swap(5000);
	closing->closed = true;
	closing->window.end = 5000;
	shim_on_cmpxchg = close_once;
	wake_on(&a, 2, 5400);
	waitprof_sum_cells(closing, true);
	waitprof_cells_clear_spare();
	is_sum(closing, 0, 0, 1, 4000, "closed under the ender");
	is_sum(take(6000), 1, 400, 0, 0, "closed under the ender, after");
	machine_unload();
}

/* A wait that begins with the old window in hand, but after its end. */
static void test_begin_late(void)
{
	struct waitprof_cells *old;
	u32 row;

	load();
	row = row_of(PIPE_READ, WAITPROF_S, 0);
	old = waitprof_cells(1, false);
	waitprof_cells_swap(5000);
	waitprof_begin(&a.t, row, 5100, old->epoch);
	waitprof_slot_close(5000, waitprof_cells(0, false)->epoch, NULL, NULL);
	waitprof_cells_clear_spare();
	is_sum(close_window(5500), 0, 0, 1, 400, "begun late, window 2");
	wake_on(&a, 0, 5700);
	is_sum(take(6000), 1, 200, 0, 0, "begun late, window 3");
	machine_unload();
}

/*
 * Whatever happens in whatever order: the windows add up to the truth, row by
 * row. Tasks sleep, wake and sleep again, also in the middle of a reset.
 */
enum { TASKS = 24, ROW_SITES = 5 };

static struct sleeper crowd_pool[256 * TASKS], *crowd[TASKS];
static u64 began[TASKS], truth_ns[ROW_SITES], truth_waits[ROW_SITES];
static u64 seen_ns[ROW_SITES], seen_waits[ROW_SITES];
static int crowd_site[TASKS];
static unsigned int crowd_state;
static bool crowd_moving;

static void crowd_move(void)
{
	int i = tap_random(&crowd_state) % TASKS;
	int cpu = tap_random(&crowd_state) % SHIM_CPUS;
	u64 now = shim_clock + tap_random(&crowd_state) % 3000;

	crowd_moving = true;
	if (began[i]) {
		truth_ns[crowd_site[i]] += now - began[i];
		truth_waits[crowd_site[i]]++;
		began[i] = 0;
		wake_on(crowd[i], cpu, now);
	} else {
		crowd_site[i] = tap_random(&crowd_state) % ROW_SITES;
		sleeper_at(crowd[i], SITES + crowd_site[i]);
		began[i] = now;
		sleep_on(crowd[i], cpu, now, TASK_INTERRUPTIBLE);
	}
	crowd_moving = false;
}

static void crowd_moves(void)
{
	int events = tap_random(&crowd_state) % 12;
	int cpu = shim_cpu;

	while (events--)
		crowd_move();
	shim_cpu = cpu;
}

/* Just before the resetter changes an epoch. */
static void crowd_cmpxchg(void)
{
	if (!crowd_moving && !(tap_random(&crowd_state) % 4))
		crowd_moves();
}

static void crowd_sum(struct waitprof_snapshot *snap)
{
	int i;

	for (i = 0; i < ROW_SITES; i++) {
		struct waitprof_sum *s =
			sum_of(snap, row_of(SITES + i, WAITPROF_S, 0));

		seen_ns[i] += s->total_ns + s->in_flight_ns;
		seen_waits[i] += s->waits;
	}
	waitprof_snapshot_free(snap);
}

static void test_truth(void)
{
	unsigned int n, i, wrong_ns = 0, wrong_waits = 0;
	u64 steps = 0;

	load();
	crowd_state = 12345;
	for (i = 0, n = 0; i < TASKS; n++) {
		/* they collide: two first choices for all */
		if ((waitprof_place(&crowd_pool[n].t, 0) - waitprof_slots) % 32)
			continue;
		crowd[i] = &crowd_pool[n];
		sleeper_init(crowd[i], 1000 + i);
		i++;
	}
	shim_clock = 1;
	for (n = 0; n < 3000; n++) {
		for (i = 0; i < 10; i++)
			crowd_move();
		shim_on_rcu = crowd_moves;
		shim_on_cmpxchg = crowd_cmpxchg;
		steps += COUNTER(clock_steps);
		crowd_sum(close_window(shim_clock));
		shim_on_rcu = NULL;
		shim_on_cmpxchg = NULL;
	}
	crowd_sum(take(shim_clock));
	for (i = 0; i < TASKS; i++)
		if (began[i])
			truth_ns[crowd_site[i]] += shim_clock - began[i];
	for (i = 0; i < ROW_SITES; i++) {
		wrong_ns += seen_ns[i] != truth_ns[i];
		wrong_waits += seen_waits[i] != truth_waits[i];
		if (seen_ns[i] != truth_ns[i])
			printf("# site %u: seen %llu, truth %llu\n", i,
			       seen_ns[i], truth_ns[i]);
	}
	is(wrong_ns, 0, "3000 windows add up to the truth, each row");
	is(wrong_waits, 0, "and to the number of waits");
	is(steps, 0, "without a clock step");
	machine_unload();
	for (i = 0; i < TASKS; i++)
		free(crowd[i]->stack.word);
}

int main(void)
{
	int i;

	world_init();
	test_wait();
	test_no_wait();
	test_classes();
	test_buckets();
	test_clock_steps();
	test_runq();
	for (i = 0; i < 2; i++) {
		machine_ftrace = i;
		test_handoff();
	}
	test_no_slot();
	test_scan();
	for (i = 0; i < 3; i++)
		test_straddle(i);
	for (i = 0; i < 3; i++)
		test_straddle_two(i);
	test_close_shave();
	test_begin_late();
	test_truth();
	free(a.stack.word);
	free(b.stack.word);
	free(machine_idle.stack.word);
	return tap_done();
}
