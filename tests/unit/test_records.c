// SPDX-License-Identifier: GPL-2.0
/* arm64: up the stack by frame records, whose return addresses are signed. */

#define CONFIG_ARM64 1
#include "shim.h"
#include "tap.h"
#include "world.h"
#include "primitives.c"
#include "table.c"
#include "site.c"

static struct task_struct task;
static struct world_stack stack;
static unsigned long on_schedule;	/* the entry */
/* As the kernel's unwinder has it: our own function, its caller, and so on. */
static unsigned long trace[WORLD_DEPTH + 3];

#define OWN	100	/* word of our own record */
#define PROBE	200	/* word of the innermost return address */
#define REGS	120	/* word of a kprobe's registers */

/* With what the stack pointer at its entry makes of it. */
static unsigned long sign(unsigned long ra, unsigned long *slot)
{
	return ra ^ ((unsigned long)slot >> 4 & 0x7f) << 56;
}

/* Records of @calls, linked, from word PROBE on, and ours below them; and what
 * the kernel's unwinder will say of that.
 */
static unsigned long *records(const struct world_call *calls, int n)
{
	unsigned long *first = world_stack(&stack, &task, PROBE, calls, n);
	unsigned long *own = &stack.word[OWN];
	int i;

	shim_frame_address = own;
	own[0] = (unsigned long)(first - 1);
	own[1] = sign(world_ra(MOD_INIT), own);
	trace[0] = world_ra(MOD_WAIT);
	trace[1] = world_ra(MOD_INIT);
	for (i = 0; i < n; i++) {
		unsigned long *slot = stack.frame[i].slot;

		slot[-1] = i + 1 < n ? (unsigned long)(stack.frame[i + 1].slot - 1) : 0;
		slot[0] = sign(world_ra(calls[i].func), slot);
		trace[i + 2] = world_ra(calls[i].func);
	}
	shim_trace = trace;
	shim_ntrace = n + 2;
	shim_traces = 0;
	return first;
}

static void load(void)
{
	shim_percpu_reset();
	if (waitprof_table_init(64, 64) || waitprof_site_init())
		abort();
	memset(waitprof_memo, 0, sizeof(waitprof_memo));
	memset(&waitprof_shortcuts, 0, sizeof(waitprof_shortcuts));
	waitprof_check.on = false;
	shim_current = &task;
	task.shim_stack = stack.word;
}

static void unload(void)
{
	waitprof_site_exit();
	waitprof_table_exit();
}

static unsigned long site_at(unsigned long *slot)
{
	return waitprof_site_addr(waitprof_site(slot, NULL, 0));
}

/* A kprobe on schedule(), whose caller's record is at @fp. */
static struct pt_regs *entry(int caller, unsigned long *fp)
{
	struct pt_regs *regs = (struct pt_regs *)&stack.word[REGS];

	memset(regs, 0, sizeof(*regs));
	regs->regs[29] = (unsigned long)fp;
	regs->regs[30] = world_ra(caller);
	return regs;
}

static unsigned long site_regs(struct pt_regs *regs)
{
	return waitprof_site_addr(waitprof_site(waitprof_entry_slot(regs), regs,
						on_schedule));
}

static void test_walk(void)
{
	unsigned long *slot;

	load();
	slot = records(CALLS({ DO_SCHEDULE, 9 }, { SCHEDULE, 3 },
			     { SCHEDULE_TIMEOUT, 12 }, { PIPE_READ, 30 },
			     { BREAD, 5 }));
	is(waitprof_ra(slot), world_ra(DO_SCHEDULE), "an address is stripped");
	is(site_at(slot), world_ra(PIPE_READ), "the first that only waits not");
	is(shim_traces, 1, "the kernel's unwinder was asked");
	is(site_at(slot), world_ra(PIPE_READ), "found again");
	is(shim_traces, 1, "by the memo");

	slot = records(CALLS({ DO_SCHEDULE, 20 }, { SCHEDULE, 7 },
			     { SCHEDULE_TIMEOUT, 2 }, { PIPE_READ, 4 }));
	is(site_at(slot), world_ra(PIPE_READ), "other distances");
	is(shim_traces, 0, "are no matter");

	slot = records(CALLS({ SCHEDULE_TIMEOUT, 2 }, { PIPE_READ, 4 }));
	is(site_regs(entry(SCHEDULE, slot - 1)), world_ra(PIPE_READ),
	   "a kprobe's registers are like a record");
	is(shim_traces, 0, "to the memo");

	waitprof_check.on = true;
	slot = records(CALLS({ DO_SCHEDULE, 9 }, { SCHEDULE, 3 },
			     { SCHEDULE_TIMEOUT, 12 }, { PIPE_READ, 30 }));
	site_at(slot);
	is(waitprof_site_stats().checked, 1, "a walk is checked");
	is(waitprof_site_stats().wrong, 0, "and right");
	trace[5] = world_ra(SITES);
	is(site_at(slot), world_ra(SITES), "the unwinder is believed");
	is(waitprof_site_stats().wrong, 1, "and the walk was wrong");
	unload();
}

/* Wherever a link leads, nothing outside the stack is read (by the sanitizer), and
 * no walk goes on for ever.
 */
static void test_broken(void)
{
	static const long links[] = { 0, 4, -8, 8 * PROBE, -16, 1l << 40 };
	unsigned long *slot, *top;
	unsigned int i;

	load();
	slot = records(CALLS({ DO_SCHEDULE, 9 }, { SCHEDULE, 3 },
			     { SCHEDULE_TIMEOUT, 12 }, { PIPE_READ, 30 }));
	site_at(slot);
	shim_ntrace = 0;
	for (i = 0; i < ARRAY_SIZE(links); i++) {
		slot[11] = (unsigned long)&slot[11] + links[i];
		if (links[i] == 8 * PROBE)	/* down to the bottom */
			slot[11] = (unsigned long)stack.word - 8;
		is(waitprof_memo_walk(slot), WAITPROF_SITE_NONE,
		   "link %u: no walk by the memo", i);
		is(site_at(slot), 0, "link %u: no site", i);
	}
	top = &stack.word[WORLD_WORDS - 1];
	*top = world_ra(PIPE_READ);
	slot[11] = (unsigned long)(top - 1);
	is(site_at(slot), world_ra(PIPE_READ), "the last word of the stack");
	slot[11] = (unsigned long)top;
	is(site_at(slot), 0, "half a record at its end is none");
	is(waitprof_site_stats().full, 0, "nothing else went wrong");
	unload();
}

/* What tracers put in the place of a return address. */
static void test_trampoline(void)
{
	unsigned long *slot;

	load();
	slot = records(CALLS({ DO_SCHEDULE, 9 }, { SCHEDULE, 3 },
			     { TRAMPOLINE, 12 }, { BREAD, 30 }));
	trace[4] = world_ra(PIPE_READ);
	is(site_at(slot), world_ra(PIPE_READ), "the unwinder sees through it");
	is(site_at(slot), world_ra(PIPE_READ), "again");
	is(shim_traces, 2, "asked each time");
	shim_ntrace = 0;
	is(site_at(slot), world_ra(BREAD), "else it is passed over");
	unload();
}

/* At its entry a function's caller is in x30. Unwinders differ in whether they
 * see it.
 */
static void test_entry(void)
{
	const unsigned long at = world_addr(SCHEDULE);
	unsigned long *slot;
	int n;

	on_schedule = at;
	for (n = 0; n < 2; n++) {
		load();
		slot = records(CALLS({ IO_SCHEDULE, 5 }, { PIPE_READ, 12 },
				     { BREAD, 30 }));
		/* up to the exception, then its pc */
		trace[2] = at;
		trace[3] = n ? world_ra(SCHEDULE_TIMEOUT) : world_ra(IO_SCHEDULE);
		trace[4] = n ? world_ra(IO_SCHEDULE) : world_ra(PIPE_READ);
		trace[5] = n ? world_ra(PIPE_READ) : world_ra(BREAD);
		shim_ntrace = 6;
		is(site_regs(entry(SCHEDULE_TIMEOUT, slot - 1)),
		   world_ra(PIPE_READ), "x30 %s: the site", n ? "seen" : "passed over");
		waitprof_check.on = true;
		site_regs(entry(SCHEDULE_TIMEOUT, slot - 1));
		is(waitprof_site_stats().wrong, 0, "as the memo has it");
		waitprof_check.on = false;

		is(site_regs(entry(SITES + n, slot - 1)), world_ra(SITES + n),
		   "the caller itself");
		unload();
	}
}

static void test_call(void)
{
	unsigned long *slot, *end;
	struct pt_regs *regs;

	load();
	slot = records(CALLS({ DO_SCHEDULE, 9 }, { SCHEDULE, 3 },
			     { SCHEDULE_TIMEOUT, 12 }, { PIPE_READ, 30 }));
	end = waitprof_past_schedule(slot);
	ok(end == slot + 12, "the first switch teaches the shortcut");
	ok(waitprof_past_schedule(slot) == end, "which the next one takes");
	regs = entry(SCHEDULE_TIMEOUT, slot + 23);
	is(waitprof_call(end), waitprof_call(waitprof_entry_slot(regs)),
	   "the call that the kprobe saw");
	ok(waitprof_call(end) != waitprof_call(slot), "and no other");
	ok(waitprof_call(NULL) != waitprof_call(end), "nor one without a place");
	slot[8] = 4;
	ok(!waitprof_past_schedule(slot), "a broken link leads nowhere");
	unload();
}

static void test_asleep(void)
{
	unsigned long *slot;

	load();
	slot = records(CALLS({ DO_SCHEDULE, 9 }, { SCHEDULE, 3 },
			     { PIPE_READ, 30 }));
	task.shim_fp = (unsigned long)(slot - 1);
	is(waitprof_site_addr(waitprof_site_asleep(&task)), world_ra(PIPE_READ),
	   "by its saved frame pointer");
	is(shim_traces, 0, "alone");
	task.shim_fp = (unsigned long)stack.word - 8;
	is(waitprof_site_addr(waitprof_site_asleep(&task)), 0, "off its stack");
	task.shim_fp = 0;
	is(waitprof_site_addr(waitprof_site_asleep(&task)), 0, "none");
	unload();
}

int main(void)
{
	world_init();
	world_stack_alloc(&stack);
	test_walk();
	test_broken();
	test_trampoline();
	test_entry();
	test_call();
	test_asleep();
	return tap_done();
}
