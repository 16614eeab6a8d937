// SPDX-License-Identifier: GPL-2.0
/* Which frame is the site: the memo against the unwinder. */

#include "shim.h"
#include "tap.h"
#include "world.h"
#include "primitives.c"
#include "table.c"
#include "site.c"

static struct task_struct task;
static struct world_stack stack;

static void load(void)
{
	shim_percpu_reset();
	if (waitprof_table_init(64, 64) || waitprof_site_init())
		abort();
	memset(waitprof_memo, 0, sizeof(waitprof_memo));
	memset(waitprof_shortcuts, 0, sizeof(waitprof_shortcuts));
	waitprof_check.on = false;
	shim_unwinds = 0;
	shim_current = &task;
}

static void unload(void)
{
	waitprof_site_exit();
	waitprof_table_exit();
}

/* As from the switch probe. */
static unsigned long site_at(unsigned long *slot)
{
	return waitprof_site_addr(waitprof_site(slot, NULL, 0));
}

/* As from a kprobe on schedule(). */
static unsigned long site_regs(unsigned long *slot)
{
	struct pt_regs regs = { .ip = 0x1234, .di = 1, .sp = (unsigned long)slot };

	return waitprof_site_addr(waitprof_site(slot, &regs, world_addr(SCHEDULE)));
}

static u64 misses(void)
{
	return waitprof_site_stats().misses;
}

/* What the memo says of two distances. */
#define DISTANCES(lo, hi) \
	((u64)(hi) << WAITPROF_MEMO_HI | (u64)(lo) << WAITPROF_MEMO_LO |	\
	 ((hi) ? WAITPROF_MEMO_ALIGN : 0))

static void learn(unsigned long ra, u64 site, unsigned long slot,
		  unsigned long next, unsigned long bp)
{
	struct waitprof_seen seen = {
		.ra = ra,
		.slot = (unsigned long *)slot,
		.bp = (unsigned long *)bp,
	};

	waitprof_memo_learn(&seen, site, (unsigned long *)next);
}

static void learn_site(unsigned long ra, u32 site)
{
	learn(ra, WAITPROF_MEMO_SITE | site, 0, 0, 0);
}

/* In words, as a function that does not use the frame pointer. */
static void learn_distance(unsigned long ra, long distance)
{
	unsigned long slot = 0x100000;

	learn(ra, 0, slot, slot + distance * 8, 0);
}

static void test_walk(void)
{
	unsigned long *slot;

	load();
	slot = world_stack(&stack, &task, 100,
			   CALLS({ DO_SCHEDULE, 9 }, { SCHEDULE, 3 },
				 { SCHEDULE_TIMEOUT, 12 }, { PIPE_READ, 30 },
				 { BREAD, 5 }));
	is(site_at(slot), world_ra(PIPE_READ), "the first that only waits not");
	is(shim_unwinds, 1, "found by the unwinder");
	is(site_at(slot), world_ra(PIPE_READ), "found again");
	is(shim_unwinds, 1, "by the memo");
	is(site_at(slot + 9), world_ra(PIPE_READ), "from the next frame too");
	is(misses(), 1, "one miss");

	slot = world_stack(&stack, &task, 300,
			   CALLS({ SCHEDULE, 3 }, { SCHEDULE_TIMEOUT, 12 },
				 { BREAD, 5 }));
	is(site_at(slot), world_ra(BREAD), "another caller, another site");
	is(misses(), 2, "is another miss");
	is(site_regs(slot), world_ra(BREAD), "a kprobe goes by the same memo");
	is(misses(), 2, "without a miss");

	slot = world_stack(&stack, &task, 50, CALLS({ DO_POLL_ISRA, 7 }));
	is(site_regs(slot), world_ra(DO_POLL_ISRA), "the first frame may be it");

	slot = world_stack(&stack, &task, 50,
			   CALLS({ SCHEDULE, 3 }, { MUTEX_LOCK, 10 },
				 { DOWN_COLD, 8 }, { FOLIO_WAIT, 20 },
				 { MOD_WAIT, 4 }));
	is(site_regs(slot), world_ra(MOD_WAIT),
	   ".constprop.0, .cold and .isra.0 are skipped");
	is(site_regs(slot), world_ra(MOD_WAIT), "by the memo too");

	shim_unwind_ip = 0;
	slot = world_stack(&stack, &task, 50, CALLS({ SITES, 4 }));
	{
		struct pt_regs regs = { .ip = 77, .sp = (unsigned long)slot };

		waitprof_site(slot, &regs, world_addr(SCHEDULE));
		is(shim_unwind_ip, world_addr(SCHEDULE),
		   "the unwinder begins at the function itself");
		is(regs.ip, 77, "and the registers are as they were");
	}
	unload();
}

/* A last instruction that is a call returns behind its function. */
static void test_last_instruction(void)
{
	static const struct shim_symbol s[] = {
		{ 0x1000, 0x100, "schedule" }, { 0x2000, 0x100, "noreturn_site" },
		{ 0x2100, 0x100, "schedule_timeout" },
	};
	char name[WAITPROF_NAME_LEN];
	u32 site;

	load();
	shim_symbols = s;
	shim_nsymbols = 3;
	memset(&stack.frame, 0, sizeof(stack.frame));
	stack.word[10] = 0x1010;
	stack.word[14] = 0x2100;
	stack.frame[0] = (struct shim_frame) { 0x1010, &stack.word[10] };
	stack.frame[1] = (struct shim_frame) { 0x2100, &stack.word[14] };
	task.frame = stack.frame;
	task.nframes = 2;
	site = waitprof_site(&stack.word[10], NULL, 0);
	waitprof_site_name(site, name, sizeof(name));
	is_str(name, "noreturn_site+0x100/0x100",
	       "a return address behind its function is that function's");
	world_init();
	unload();
}

/* Whatever is called by whatever: the memo says what the unwinder says.
 * @hooked: of four functions one has return probes
 */
static void test_random(bool hooked)
{
	static const int primitives[] = {
		SCHEDULE_TIMEOUT, IO_SCHEDULE, DOWN_COLD, FOLIO_WAIT, MUTEX_LOCK
	};
	unsigned int state = 1, wrong = 0, i, n;
	u64 first_half = 0;
	enum { WALKS = 4000 };

	load();
	waitprof_check.on = true;
	for (n = 0; n < WALKS; n++) {
		struct world_call calls[8] = {
			{ DO_SCHEDULE, 9 }, { SCHEDULE, 3 },
		};
		int depth = 2 + tap_random(&state) % 5;
		unsigned int sites = 0, site;
		unsigned long *slot;

		for (i = 2; i < depth; i++) {
			int f = primitives[tap_random(&state) %
					   ARRAY_SIZE(primitives)];

			calls[i].func = f;
			calls[i].distance = 5 + f;
			/* its stack is aligned: two distances */
			if (f == MUTEX_LOCK)
				calls[i].distance += tap_random(&state) & 1;
		}
		site = calls[depth].func = SITES + tap_random(&state) % 40;
		calls[depth].distance = 11;
		sites = depth + 1;
		slot = world_stack(&stack, &task, 200 + tap_random(&state) % 500,
				   calls, sites);
		/* A frame pointer lies below each return address. */
		for (i = 0; i < sites; i++)
			stack.frame[i].slot[-1] =
				(unsigned long)(stack.frame[i].slot + 20);
		world_unhook(&task);
		for (i = sites; hooked && i--;)
			if (!(tap_random(&state) % 4))
				world_hook(&task, &stack.frame[i],
					   1 + tap_random(&state) % 3);
		wrong += (n & 1 ? site_at(slot) : site_regs(slot)) !=
			 world_ra(site);
		if (n == WALKS / 2)
			first_half = misses();
	}
	is(wrong, 0, "%u stacks, each with its site", WALKS);
	is(waitprof_site_stats().wrong, 0, "memo and unwinder agree");
	is(waitprof_site_stats().checked, WALKS - misses(),
	   "all walks of the memo were compared");
	ok(misses() < 40 + 4 * ARRAY_SIZE(primitives),
	   "%llu misses for some 48 addresses", misses());
	is(misses(), first_half, "none in the second half");
	is(waitprof_site_stats().failed, 0, "no failure");
	world_unhook(&task);
	unload();
}

/* A function that aligns its stack: X and X + 8 bytes. @lo_first: which of them
 * is met first.
 */
static void test_two_distances(bool lo_first)
{
	const char *which = lo_first ? "X first" : "X+8 first";
	unsigned long *slot;
	unsigned int i;

	load();
	for (i = 0; i < 2; i++) {
		bool lo = lo_first == !i;

		slot = world_stack(&stack, &task, 100,
				   CALLS({ SCHEDULE, 3 },
					 { MUTEX_LOCK, lo ? 10 : 11 },
					 { PIPE_READ, 4 }));
		/* in the wrong place, the frame pointer */
		slot[3 + (lo ? 11 : 10)] = (unsigned long)(slot + 40);
		is(site_regs(slot), world_ra(PIPE_READ),
		   "two distances, %s: met", which);
		is(misses(), i + 1, "two distances, %s: learnt", which);
	}
	is(waitprof_memo_what(world_ra(MUTEX_LOCK)), DISTANCES(10, 11),
	   "two distances, %s: the smaller is in the low half", which);

	for (i = 0; i < 4; i++) {
		slot = world_stack(&stack, &task, 100,
				   CALLS({ SCHEDULE, 3 },
					 { MUTEX_LOCK, i & 1 ? 11 : 10 },
					 { PIPE_READ, 4 }));
		if (i & 1)	/* a frame pointer or nothing */
			slot[3 + 10] = i & 2 ? (unsigned long)(slot + 40) : 0;
		else		/* what an earlier call has left */
			slot[3 + 11] = world_ra(SITES);
		is(site_regs(slot), world_ra(PIPE_READ),
		   "two distances, %s: walk %u is right", which, i);
	}
	is(misses(), 2, "two distances, %s: no further miss", which);

	/* Two such functions, one above the other. */
	for (i = 0; i < 8; i++) {
		slot = world_stack(&stack, &task, 100,
				   CALLS({ SCHEDULE, 3 },
					 { MUTEX_LOCK, i & 1 ? 11 : 10 },
					 { FOLIO_WAIT, i & 2 ? 20 : 21 },
					 { PIPE_READ, 4 }));
		is(site_regs(slot), world_ra(PIPE_READ),
		   "two distances, %s: two such functions, %u", which, i);
	}
	is(misses(), 4, "two distances, %s: two misses for the second", which);

	/* A third distance: right, but always dear. */
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SCHEDULE, 3 }, { MUTEX_LOCK, 15 },
				 { PIPE_READ, 4 }));
	is(site_regs(slot), world_ra(PIPE_READ),
	   "two distances, %s: a third is found", which);
	is(waitprof_memo_what(world_ra(MUTEX_LOCK)),
	   WAITPROF_MEMO_NEVER | WAITPROF_MEMO_ALIGN,
	   "two distances, %s: and ends the memo's walks", which);
	unload();
}

/* Only the larger distance was met yet, and in its place lies what an earlier
 * call has left: a return address that is known, too.
 */
static void test_larger_alone(void)
{
	unsigned long *slot;

	load();
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SCHEDULE, 3 }, { MUTEX_LOCK, 11 },
				 { BREAD, 4 }));
	stack.frame[1].bp = stack.frame[2].slot - 1;
	stack.frame[1].slot[-1] = (unsigned long)(stack.frame[2].slot - 1);
	site_regs(slot);
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SCHEDULE, 3 }, { MUTEX_LOCK, 10 },
				 { PIPE_READ, 4 }));
	slot[3 + 11] = world_ra(BREAD);
	is(site_regs(slot), world_ra(PIPE_READ),
	   "two distances, the larger alone met: walk is right");
	is(misses(), 2, "by the unwinder");
	is(waitprof_memo_what(world_ra(MUTEX_LOCK)), DISTANCES(10, 11),
	   "which knows both then");
	unload();

	/* The smaller alone: in its place lies the frame pointer. */
	load();
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SCHEDULE, 3 }, { MUTEX_LOCK, 10 },
				 { BREAD, 4 }));
	stack.frame[1].bp = stack.frame[2].slot - 1;
	*stack.frame[1].bp = (unsigned long)(slot + 40);
	is(site_regs(slot), world_ra(BREAD), "two distances, the smaller alone");
	is(site_regs(slot), world_ra(BREAD), "again");
	is(misses(), 1, "by the memo");
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SCHEDULE, 3 }, { MUTEX_LOCK, 11 },
				 { PIPE_READ, 4 }));
	stack.frame[1].bp = stack.frame[2].slot - 1;
	*stack.frame[1].bp = (unsigned long)(slot + 40);
	is(site_regs(slot), world_ra(PIPE_READ),
	   "two distances, the smaller alone met: walk is right");
	is(misses(), 2, "by the unwinder");
	unload();
}

/* Return addresses that return probes have hidden. */
static void test_hidden(void)
{
	unsigned long hook = world_addr(RETHOOK), *slot;
	struct task_struct sleeper = { };

	load();
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SCHEDULE, 3 }, { SCHEDULE_TIMEOUT, 12 },
				 { PIPE_READ, 4 }));
	world_hook(&task, &stack.frame[1], 1);
	is(site_regs(slot), world_ra(PIPE_READ), "hidden: behind it");
	is(waitprof_memo_what(hook), WAITPROF_MEMO_HOOKED, "hidden: learnt");
	is(site_regs(slot), world_ra(PIPE_READ), "hidden: again");
	is(misses(), 1, "hidden: by the memo");
	world_hook(&task, &stack.frame[1], 2);
	is(site_regs(slot), world_ra(PIPE_READ),
	   "hidden: by three probes of one function");
	world_hook(&task, &stack.frame[0], 2);
	is(site_regs(slot), world_ra(PIPE_READ), "hidden: the first address, too");
	world_hook(&task, &stack.frame[2], 1);
	is(site_regs(slot), world_ra(PIPE_READ), "hidden: and the site itself");
	is(misses(), 1, "hidden: all by the memo");
	world_unhook(&task);
	is(waitprof_memo_walk(slot), WAITPROF_SITE_NONE,
	   "hidden: who is not in the list leads nowhere");
	is(site_regs(slot), world_ra(PIPE_READ), "hidden: the unwinder may know more");
	is(site_regs(slot), world_ra(PIPE_READ), "hidden: each time");
	is(misses(), 3, "hidden: a miss each time");

	slot = world_stack(&stack, &task, 100,
			   CALLS({ SCHEDULE, 3 }, { IO_SCHEDULE, 7 },
				 { BREAD, 4 }));
	world_hook(&task, &stack.frame[1], 1);
	is(site_regs(slot), world_ra(BREAD), "hidden: another caller");
	is(misses(), 4, "hidden: which the memo does not know");
	is(site_regs(slot), world_ra(BREAD), "hidden: but then");
	is(misses(), 4, "hidden: it does");
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SCHEDULE, 3 }, { IO_SCHEDULE, 7 },
				 { BREAD, 4 }));
	world_unhook(&task);
	is(site_regs(slot), world_ra(BREAD), "hidden: no longer");
	is(misses(), 4, "hidden: and known by that");
	unload();

	/* What another tracer has put there is not in that list. */
	load();
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SCHEDULE, 3 }, { SCHEDULE_TIMEOUT, 12 },
				 { PIPE_READ, 4 }));
	slot[3] = world_ra(SITES);
	is(site_regs(slot), world_ra(PIPE_READ), "another tracer's: behind it");
	is(waitprof_memo_what(world_ra(SITES)), 0, "another tracer's: not learnt");
	is(site_regs(slot), world_ra(PIPE_READ), "another tracer's: again");
	is(misses(), 2, "another tracer's: by the unwinder");
	unload();

	/* Nor is that of another task the running one's. */
	load();
	world_stack(&stack, &sleeper, 100,
		    CALLS({ DO_SCHEDULE, 9 }, { SCHEDULE, 3 }, { PIPE_READ, 4 }));
	world_hook(&sleeper, &stack.frame[1], 1);
	is(waitprof_site_addr(waitprof_site_asleep(&sleeper)),
	   world_ra(PIPE_READ), "hidden in another task");
	is(waitprof_memo_what(hook), 0, "hidden in another task: not learnt");
	world_unhook(&sleeper);
	unload();
}

/* Something that comes in while the unwinder is at work. */
static struct world_stack nested_stack;
static unsigned long *nested_slot;
static unsigned long nested_site;
static int nested_cpu, nested_irqs_off;

static void nested(void)
{
	const struct shim_frame *frame = task.frame;
	int cpu = shim_cpu;

	shim_on_unwind = NULL;
	nested_irqs_off = shim_irqs_off;
	task.frame = nested_stack.frame;
	shim_cpu = nested_cpu;
	nested_site = site_regs(nested_slot);
	shim_cpu = cpu;
	task.frame = frame;
}

static void test_nested(void)
{
	static struct task_struct sleeper;
	unsigned long *slot;
	u64 failed;

	world_stack_alloc(&nested_stack);
	for (nested_cpu = 0; nested_cpu < 2; nested_cpu++) {
		load();
		nested_slot = world_stack(&nested_stack, &task, 300,
					  CALLS({ SCHEDULE, 3 }, { BREAD, 4 }));
		slot = world_stack(&stack, &task, 100,
				   CALLS({ SCHEDULE, 3 }, { PIPE_READ, 4 }));
		shim_on_unwind = nested;
		is(site_regs(slot), world_ra(PIPE_READ),
		   "nested: the first has its site");
		ok(nested_irqs_off && !shim_irqs_off,
		   "nested: interrupts were off, and are not");
		is(nested_site, nested_cpu ? world_ra(BREAD) : 0,
		   "nested: the second, on CPU %d", nested_cpu);
		is(waitprof_site_stats().failed, !nested_cpu,
		   "nested: that is counted, on CPU %d", nested_cpu);
		is(misses(), 2, "nested: two misses");
		world_stack(&nested_stack, &task, 300,
			    CALLS({ SCHEDULE, 3 }, { BREAD, 4 }));
		is(site_regs(nested_slot), world_ra(BREAD), "nested: afterwards, as ever");
		unload();
	}

	load();
	slot = world_stack(&stack, &sleeper, 100,
			   CALLS({ SCHEDULE, 3 }, { PIPE_READ, 4 }));
	this_cpu_write(waitprof_unwinding, true);
	failed = waitprof_site_stats().failed;
	is(waitprof_site_asleep(&sleeper), WAITPROF_SITE_UNKNOWN,
	   "nested: not even for a sleeper");
	is(waitprof_site_stats().failed, failed + 1, "nested: counted");
	this_cpu_write(waitprof_unwinding, false);
	ok(waitprof_site_asleep(&sleeper) != WAITPROF_SITE_UNKNOWN && !shim_irqs_off,
	   "nested: afterwards, as ever");
	unload();
	free(nested_stack.word);
}

/* Who remembers more than one frame has to know when that is no longer so. */
static void test_turns(void)
{
	unsigned long ra = world_ra(SCHEDULE);
	u32 turns;

	load();
	turns = waitprof_memo_turns;
	learn_distance(ra, 9);
	learn_distance(ra, 9);
	learn(ra + 1, WAITPROF_MEMO_SITE | 5, 0x1000, 0x1038, 0);
	learn(ra + 2, 0, 0x1000, 0x1038, 0x1030);
	learn_site(ra + 3, 6);
	learn_distance(ra + 3, 4);
	is(waitprof_memo_turns, turns, "turns: what is new turns nothing");
	learn_distance(ra, 10);
	is(waitprof_memo_turns, turns + 1, "turns: a second distance does");
	learn_distance(ra, 9);
	learn_distance(ra, 10);
	is(waitprof_memo_turns, turns + 1, "turns: either is known then");
	learn_distance(ra, 11);
	is(waitprof_memo_turns, turns + 2, "turns: so does a third");
	learn_distance(ra, 12);
	is(waitprof_memo_turns, turns + 2, "turns: for good");
	learn_distance(ra + 1, 20);
	is(waitprof_memo_turns, turns + 3, "turns: and a second that is no neighbour");
	learn(ra + 2, 0, 0x1000, 0x1040, 0x1038);
	is(waitprof_memo_turns, turns + 4, "turns: the other of two that were expected");
	waitprof_memo_busy = 1;
	learn_distance(ra + 3, 5);
	is(waitprof_memo_turns, turns + 4, "turns: not what is not learnt");
	waitprof_memo_busy = 0;
	shim_notify(MODULE_STATE_COMING, &world_module);
	is(waitprof_memo_turns, turns + 4, "turns: nor does a module that comes");
	shim_notify(MODULE_STATE_GOING, &world_module);
	ok(waitprof_memo_turns != turns + 4, "turns: but one that goes");
	turns = waitprof_memo_turns;
	shim_notify(MODULE_STATE_LIVE, &world_module);
	ok(waitprof_memo_turns != turns, "turns: and a part of one");
	unload();
}

static void test_odd_words(void)
{
	unsigned long *slot;

	load();
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SCHEDULE, 3 }, { PIPE_READ, 4 }));
	is(site_at(slot), world_ra(PIPE_READ), "learnt");
	slot[3] = 0;
	is(waitprof_memo_walk(slot), WAITPROF_SITE_NONE,
	   "a zero word leads nowhere");
	slot[0] = 0;
	is(waitprof_memo_walk(slot), WAITPROF_SITE_NONE, "nor as the first");
	slot[0] = world_ra(SCHEDULE);
	slot[3] = (unsigned long)slot;
	is(waitprof_memo_walk(slot), WAITPROF_SITE_NONE, "nor a frame pointer");
	is(waitprof_memo_what(0), 0, "address 0 is never known");

	/* The top of the stack: the walk must not read beyond it. */
	slot = &stack.word[WORLD_WORDS - 3];
	slot[0] = world_ra(SCHEDULE);
	is(waitprof_memo_walk(slot), WAITPROF_SITE_NONE,
	   "a walk ends with the stack");
	learn_distance(world_ra(SCHEDULE), 2);
	stack.word[WORLD_WORDS - 1] = 1;
	is(waitprof_memo_walk(slot), WAITPROF_SITE_NONE,
	   "also with the larger of two distances");
	slot = &stack.word[WORLD_WORDS - 1];
	slot[0] = world_ra(SCHEDULE);
	is(waitprof_memo_walk(slot), WAITPROF_SITE_NONE,
	   "and with the smaller");
	unload();
}

static void test_learn(void)
{
	unsigned long ra = world_ra(SCHEDULE);

	load();
	learn_distance(ra + 10, 0);
	is(waitprof_memo_what(ra + 10), 0, "0 is no distance");
	learn_distance(ra + 11, -3);
	is(waitprof_memo_what(ra + 11), WAITPROF_MEMO_NEVER, "nor is what is negative");
	learn_distance(ra + 12, 0x3fff);
	is(waitprof_memo_what(ra + 12), WAITPROF_MEMO_NEVER, "or huge");
	learn_distance(ra + 12, 3);
	is(waitprof_memo_what(ra + 12), WAITPROF_MEMO_NEVER, "and never is for good");
	learn_distance(ra, 0x3ffd);
	is(waitprof_memo_what(ra), DISTANCES(0x3ffd, 0), "a large one");
	learn_distance(ra, 0x3ffd);
	is(waitprof_memo_what(ra), DISTANCES(0x3ffd, 0), "twice the same is one");
	learn_distance(ra, 0x3ffe);
	is(waitprof_memo_what(ra), DISTANCES(0x3ffd, 0x3ffe), "and its neighbour");
	learn_distance(ra, 0x3ffd);
	is(waitprof_memo_what(ra), DISTANCES(0x3ffd, 0x3ffe), "either is known");
	learn_distance(ra, 0x3ffc);
	is(waitprof_memo_what(ra), WAITPROF_MEMO_NEVER | WAITPROF_MEMO_ALIGN, "three are too many");
	learn_distance(ra + 13, 9);
	learn_distance(ra + 13, 20);
	is(waitprof_memo_what(ra + 13), WAITPROF_MEMO_NEVER, "two that are no neighbours too");
	/* The frame pointer tells that there are two. */
	learn(ra + 14, 0, 0x1000, 0x1040, 0x1038);
	is(waitprof_memo_what(ra + 14), WAITPROF_MEMO_ALIGN | DISTANCES(8, 0),
	   "one of two");
	learn(ra + 15, 0, 0x1000, 0x1038, 0x1030);
	is(waitprof_memo_what(ra + 15), WAITPROF_MEMO_ALIGN | DISTANCES(7, 0),
	   "another");
	learn(ra + 15, 0, 0x1000, 0x1040, 0x1038);
	is(waitprof_memo_what(ra + 15), DISTANCES(7, 8), "and then both");
	/* Of a call path all is told at once. */
	learn(ra + 16, WAITPROF_MEMO_SITE | 5, 0x1000, 0x1038, 0);
	is(waitprof_memo_what(ra + 16), WAITPROF_MEMO_SITE | DISTANCES(7, 0) | 5,
	   "a site and its distance");
	learn(ra + 17, WAITPROF_MEMO_END | 6, 0x1000, 0, 0);
	is(waitprof_memo_what(ra + 17), WAITPROF_MEMO_END | 6, "an end");
	learn_site(ra + 1, 5);
	learn_distance(ra + 1, 7);
	is(waitprof_memo_what(ra + 1), WAITPROF_MEMO_SITE | DISTANCES(7, 0) | 5,
	   "what is a site stays one");
	waitprof_memo_busy = 1;
	learn_site(ra + 2, 5);
	is(waitprof_memo_what(ra + 2), 0, "nobody waits to learn");
	waitprof_memo_busy = 0;
	unload();
}

/* Another set of @ra, n-th of a row. */
static unsigned long same_set(unsigned long first, unsigned int n)
{
	unsigned long ra = first;

	while (n) {
		ra++;
		if ((ra & 0xfff) >= WORLD_SIZE)
			ra = (ra | 0xfff) + 2;
		if (hash_long(ra, WAITPROF_MEMO_BITS) ==
		    hash_long(first, WAITPROF_MEMO_BITS))
			n--;
	}
	return ra;
}

static unsigned long *stack_site(unsigned long ra)
{
	unsigned long *slot = world_stack(&stack, &task, 100,
					  CALLS({ SCHEDULE, 3 }, { SITES, 4 }));

	stack.frame[1].ra = slot[3] = ra;
	return slot;
}

static void test_set_full(void)
{
	unsigned int i, wrong = 0;

	load();
	for (i = 0; i < WAITPROF_MEMO_WAYS; i++) {
		unsigned long ra = same_set(world_ra(SITES), i);

		wrong += site_at(stack_site(ra)) != ra;
	}
	is(wrong, 0, "a set has room for 4");
	is(waitprof_site_stats().full, 0, "and is not too small for them");
	for (i = 0; i < 3; i++)
		wrong += site_at(stack_site(same_set(world_ra(SITES), 4))) !=
			 same_set(world_ra(SITES), 4);
	is(wrong, 0, "a fifth is found nevertheless");
	is(waitprof_site_stats().full, 3, "and counted each time");
	is(misses(), 7, "a miss each time");
	for (i = 0; i < WAITPROF_MEMO_WAYS; i++)
		wrong += site_at(stack_site(same_set(world_ra(SITES), i))) !=
			 same_set(world_ra(SITES), i);
	is(wrong + misses(), 7, "the four are still there");
	unload();
}

static void test_generated(void)
{
	static const int generated[] = { TRAMPOLINE, BPF_PROG };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		const char *name = world_symbols[generated[i]].module;
		unsigned long *slot;

		load();
		slot = world_stack(&stack, &task, 100,
				   CALLS({ SCHEDULE, 3 }, { generated[i], 8 },
					 { SCHEDULE_TIMEOUT, 9 },
					 { PIPE_READ, 4 }));
		is(site_at(slot), world_ra(PIPE_READ), "[%s] is skipped", name);
		is(waitprof_memo_what(world_ra(generated[i])), 0,
		   "[%s] is not kept", name);
		is(site_at(slot), world_ra(PIPE_READ), "[%s] again", name);
		is(misses(), 2, "[%s] needs the unwinder each time", name);

		/* The same place, other code: nothing old is used. */
		slot = world_stack(&stack, &task, 100,
				   CALLS({ SCHEDULE, 3 }, { generated[i], 15 },
					 { BREAD, 4 }));
		is(site_at(slot), world_ra(BREAD),
		   "[%s] another frame at the same address", name);
		slot = world_stack(&stack, &task, 100,
				   CALLS({ SCHEDULE, 3 }, { PIPE_READ, 4 }));
		is(site_at(slot), world_ra(PIPE_READ), "[%s] and without", name);
		unload();
	}
}

/* An address outside of the module in the set of MOD_WAIT, n-th of a row. */
static unsigned long beside_module(unsigned int n)
{
	unsigned long ra = world_ra(SITES);

	while (hash_long(ra, WAITPROF_MEMO_BITS) !=
	       hash_long(world_ra(MOD_WAIT), WAITPROF_MEMO_BITS))
		ra++;
	return same_set(ra, n);
}

static bool learnt_in_rcu, learnt_elsewhere, site_in_rcu;
static unsigned int rcu_calls;

static void try_to_learn(void)
{
	unsigned long ra = beside_module(WAITPROF_MEMO_WAYS - 1);

	rcu_calls++;
	learn_site(ra, 9);
	learnt_in_rcu |= waitprof_memo_what(ra) != 0;
	learn_site(world_ra(BREAD), 9);
	learnt_elsewhere |= waitprof_memo_what(world_ra(BREAD)) != 0;
	/* nor is the number of a site another's */
	site_in_rcu |= waitprof_site_get(world_ra(MOD_WAIT)) < 3;
}

static void notify(unsigned long event)
{
	shim_notify(event, &world_module);
}

static void test_module(void)
{
	unsigned long *slot;
	u32 core, init;
	unsigned int i;

	load();
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SCHEDULE, 3 }, { MOD_INIT, 4 }));
	init = waitprof_site(slot, NULL, 0);
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SCHEDULE, 3 }, { MOD_WAIT, 4 }));
	core = waitprof_site(slot, NULL, 0);
	notify(MODULE_STATE_COMING);
	ok(waitprof_memo_what(world_ra(MOD_WAIT)) &&
	   waitprof_memo_what(world_ra(MOD_INIT)), "a module comes: no change");
	notify(MODULE_STATE_LIVE);
	ok(!waitprof_memo_what(world_ra(MOD_INIT)), "live: its init part goes");
	ok(waitprof_memo_what(world_ra(MOD_WAIT)) &&
	   waitprof_memo_what(world_ra(SCHEDULE)), "and nothing else");
	is(waitprof_site(slot, NULL, 0), core, "its sites stay");

	for (i = 0; i < WAITPROF_MEMO_WAYS - 1; i++)
		learn_site(beside_module(i), 9);
	is(waitprof_site_stats().full, 0, "a set is full");
	shim_on_rcu = try_to_learn;
	notify(MODULE_STATE_GOING);
	shim_on_rcu = NULL;
	ok(!waitprof_memo_what(world_ra(MOD_WAIT)), "going: all of it goes");
	ok(waitprof_memo_what(world_ra(SCHEDULE)), "and nothing else");
	is(rcu_calls, 1, "after readers have been waited for");
	ok(!learnt_in_rcu, "no way is used again while readers may be in it");
	ok(learnt_elsewhere, "but others are");
	ok(!site_in_rcu, "and a site is one");
	is(waitprof_memo_busy, 0, "the memo is unlocked");
	learn_site(beside_module(WAITPROF_MEMO_WAYS - 1), 9);
	ok(waitprof_memo_what(beside_module(WAITPROF_MEMO_WAYS - 1)),
	   "afterwards, the way is used again");
	is(waitprof_memo_what(1), 0, "and is no longer reserved");
	for (i = 0; i < WAITPROF_MEMO_WAYS - 1; i++)
		ok(waitprof_memo_what(beside_module(i)),
		   "and %u beside it is still there", i);
	rcu_calls = 0;
	shim_on_rcu = try_to_learn;
	world_module.core += 0x100000;
	notify(MODULE_STATE_GOING);
	notify(MODULE_STATE_LIVE);
	world_module.core -= 0x100000;
	shim_on_rcu = NULL;
	is(rcu_calls, 0, "a module where nobody slept waits for nobody");

	ok(waitprof_site(slot, NULL, 0) != core, "the address is a new site");
	is(site_at(slot), world_ra(MOD_WAIT), "and known again");
	is(waitprof_site_addr(core), world_ra(MOD_WAIT), "the old row stays");
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SCHEDULE, 3 }, { MOD_INIT, 4 }));
	ok(waitprof_site(slot, NULL, 0) != init, "as does that of the init part");
	unload();
}

static unsigned int ways_of(unsigned long ra)
{
	struct waitprof_memo *set =
		&waitprof_memo[hash_long(ra, WAITPROF_MEMO_BITS)];
	unsigned int i, n = 0;

	for (i = 0; i < WAITPROF_MEMO_WAYS; i++)
		n += set->ra[i] == ra;
	return n;
}

/* A module that goes leaves a hole in front of others of its set. */
static void test_hole(void)
{
	unsigned long ra = same_set(world_ra(SCHEDULE), 0), mod;
	unsigned long *slot;

	load();
	for (mod = WORLD_MODULE; hash_long(mod, WAITPROF_MEMO_BITS) !=
				 hash_long(ra, WAITPROF_MEMO_BITS); mod++)
		;
	learn_site(mod, 5);
	learn_distance(ra, 3);
	learn_distance(ra, 4);
	world_module.core_size = mod - WORLD_MODULE + 1;
	notify(MODULE_STATE_GOING);
	world_module.core_size = 0x2000;
	is(waitprof_memo_what(ra), DISTANCES(3, 4), "behind a hole, still known");
	/* A miss further up passes by and learns all over again. */
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SCHEDULE, 3 }, { BREAD, 4 }));
	is(site_at(slot), world_ra(BREAD), "behind a hole, walked past");
	is(ways_of(ra), 1, "behind a hole: an address stands in one way only");
	is(waitprof_memo_what(ra), DISTANCES(3, 4),
	   "behind a hole: and loses none of its distances");
	unload();
}

/* Where the shortcut that fits at @slot stands in the table; -1: none does. */
static int shortcut(unsigned long *slot)
{
	int i;

	for (i = 0; i < (int)WAITPROF_SHORTCUTS; i++)
		if (waitprof_shortcut_end(&waitprof_shortcuts[i], slot))
			return i;
	return -1;
}

static unsigned int shortcuts(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < WAITPROF_SHORTCUTS; i++)
		n += waitprof_shortcuts[i].ra0 != 0;
	return n;
}

static void test_shortcut(void)
{
	struct waitprof_shortcut full = { .ra1 = 1, .d1 = 1, .d = 2 };
	unsigned int unwinds, i;
	unsigned long *slot;

	load();
	slot = world_stack(&stack, &task, 100,
			   CALLS({ DO_SCHEDULE, 9 }, { SCHEDULE, 3 },
				 { SCHEDULE_TIMEOUT, 12 }, { PIPE_READ, 4 }));
	site_regs(slot + 12);
	site_at(slot);
	waitprof_site_asleep(&task);
	is(shortcuts(), 0, "who looks for a site does not teach a shortcut");

	slot = world_stack(&stack, &task, 100,
			   CALLS({ TRACEITER, 5 }, { DO_SCHEDULE, 9 },
				 { SCHEDULE, 3 }, { PIPE_READ, 4 }));
	ok(waitprof_past_schedule(slot) == slot + 17,
	   "the way by a tracepoint's own frame is found");
	is(shortcut(slot), 1, "and kept, but not as the first");
	slot = world_stack(&stack, &task, 100,
			   CALLS({ DO_SCHEDULE, 9 }, { RT_SCHEDULE, 5 },
				 { PIPE_READ, 4 }));
	ok(waitprof_past_schedule(slot) == slot + 14,
	   "so is the one from another caller of __schedule()");
	is(shortcut(slot), 2, "and kept behind");
	slot = world_stack(&stack, &task, 100,
			   CALLS({ DO_SCHEDULE, 9 }, { SCHEDULE, 3 },
				 { SCHEDULE_TIMEOUT, 12 }, { PIPE_READ, 4 }));
	ok(waitprof_past_schedule(slot) == slot + 12, "so is the usual one");
	is(shortcut(slot), 0, "which is the first");
	unwinds = shim_unwinds;
	ok(waitprof_past_schedule(slot) == slot + 12, "it is found again");
	slot = world_stack(&stack, &task, 100,
			   CALLS({ TRACEITER, 5 }, { DO_SCHEDULE, 9 },
				 { SCHEDULE, 3 }, { PIPE_READ, 4 }));
	ok(waitprof_past_schedule(slot) == slot + 17, "so is another");
	is(shim_unwinds, unwinds, "both without the unwinder");
	slot[14]++;
	is(shortcut(slot), -1, "it leads through schedule()");
	is(shortcut(slot + 5), -1, "and begins where the switch probe returns");
	is(shortcuts(), 3, "three ways, three shortcuts");
	unload();

	load();
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SCHEDULE_TIMEOUT, 3 }, { SITES, 4 }));
	ok(!waitprof_past_schedule(slot), "one that does not begin in __schedule()");
	slot = world_stack(&stack, &task, 100,
			   CALLS({ DO_SCHEDULE, 9 }, { SCHEDULE, 3 },
				 { SITES + 1, 4 }));
	stack.frame[2].guess = true;
	ok(!waitprof_past_schedule(slot), "and one that the unwinder guesses");
	is(shortcuts(), 0, "are none");
	stack.frame[2].guess = false;
	ok(!test_and_set_bit_lock(0, &waitprof_memo_busy), "somebody learns");
	ok(waitprof_past_schedule(slot) == slot + 12,
	   "who finds another one learning is right all the same");
	is(shortcuts(), 0, "though nothing is kept");
	clear_bit_unlock(0, &waitprof_memo_busy);
	for (i = 0; i < WAITPROF_SHORTCUTS; i++) {
		full.ra0 = 1 + i;
		waitprof_shortcuts[i] = full;
	}
	ok(waitprof_past_schedule(slot) == slot + 12, "so is who finds no room");
	for (i = 0; i < WAITPROF_SHORTCUTS; i++)
		ok(waitprof_shortcuts[i].ra0 == 1 + i, "where nothing is lost");
	unload();
}

static void test_failures(void)
{
	static const struct world_call deep = { IO_SCHEDULE, 2 };
	struct world_call calls[WAITPROF_DEPTH + 1];
	unsigned long *slot;
	unsigned int i;

	load();
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SCHEDULE, 3 }, { SCHEDULE_TIMEOUT, 3 }));
	is(waitprof_site(slot, NULL, 0), WAITPROF_SITE_UNKNOWN,
	   "a stack without a site");
	is(waitprof_site_stats().failed, 1, "is counted");
	task.nframes = 0;
	is(waitprof_site(slot, &(struct pt_regs){ .sp = (unsigned long)slot },
			 world_addr(SCHEDULE)), WAITPROF_SITE_UNKNOWN, "and one without a frame");
	is(waitprof_site_stats().failed, 2, "too");

	for (i = 0; i < WAITPROF_DEPTH; i++)
		calls[i] = deep;
	calls[WAITPROF_DEPTH - 1] = (struct world_call) { BREAD, 2 };
	slot = world_stack(&stack, &task, 100, calls, WAITPROF_DEPTH);
	is(site_at(slot), world_ra(BREAD), "the deepest that is looked at");
	calls[WAITPROF_DEPTH - 1] = deep;
	calls[WAITPROF_DEPTH] = (struct world_call) { PIPE_READ, 2 };
	slot = world_stack(&stack, &task, 100, calls, WAITPROF_DEPTH + 1);
	waitprof_memo_busy = 1;
	memset(waitprof_memo, 0, sizeof(waitprof_memo));
	is(waitprof_site(slot, NULL, 0), WAITPROF_SITE_UNKNOWN,
	   "one deeper is given up");
	waitprof_memo_busy = 0;

	/* Kernels differ in where the unwinder begins. */
	slot = world_stack(&stack, &task, 100,
			   CALLS({ DO_SCHEDULE, 9 }, { SCHEDULE, 3 },
				 { PIPE_READ, 4 }));
	shim_unwind_early = 1;
	is(site_at(slot + 9), world_ra(PIPE_READ), "it may begin too early");
	memset(waitprof_memo, 0, sizeof(waitprof_memo));
	shim_unwind_early = -1;
	is(waitprof_site(slot, NULL, 0), WAITPROF_SITE_UNKNOWN,
	   "where it begins too late, nothing is made up");
	shim_unwind_early = 0;

	/* An exception's frame has no place on the stack. */
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SCHEDULE, 3 }, { IO_SCHEDULE, 6 },
				 { SCHEDULE_TIMEOUT, 3 }, { SITES + 3, 4 }));
	stack.frame[1].entry = true;
	is(site_regs(slot), world_ra(SITES + 3), "over an exception's frame");
	is(waitprof_memo_what(world_ra(IO_SCHEDULE)), 0, "which is not kept");
	unload();

	shim_notifier_err = -ENOMEM;
	is(waitprof_site_init(), -ENOMEM, "no notifier, no start");
	shim_notifier_err = 0;
}

static void test_check(void)
{
	unsigned long *slot;

	load();
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SCHEDULE, 3 }, { PIPE_READ, 4 }));
	site_at(slot);
	waitprof_check.on = true;
	slot[3] = world_ra(BREAD);
	learn_site(world_ra(BREAD), WAITPROF_SITE_UNKNOWN);
	is(site_at(slot), world_ra(PIPE_READ), "check: the unwinder is right");
	is(waitprof_site_stats().checked, 1, "check: compared");
	is(waitprof_site_stats().wrong, 1, "check: and the memo's error counted");
	is(waitprof_memo_what(world_ra(BREAD)),
	   WAITPROF_MEMO_SITE | WAITPROF_SITE_UNKNOWN, "check: learns nothing");
	unload();
}

static void test_asleep(void)
{
	static struct task_struct sleeper;
	unsigned long *slot;

	load();
	slot = world_stack(&stack, &sleeper, 100,
			   CALLS({ DO_SCHEDULE, 9 }, { SCHEDULE, 3 },
				 { PIPE_READ, 4 }));
	is(waitprof_site_addr(waitprof_site_asleep(&sleeper)),
	   world_ra(PIPE_READ), "the site of another task");
	is(shim_unwinds, 1, "is found by the unwinder");
	is(waitprof_memo_what(*slot), DISTANCES(9, 0), "which teaches the memo");
	is(waitprof_site_addr(waitprof_site_asleep(&sleeper)),
	   world_ra(PIPE_READ), "and by that the next time");
	sleeper.nframes = 0;
	is(waitprof_site_asleep(&sleeper), WAITPROF_SITE_UNKNOWN,
	   "a task without a stack");
	unload();
}

int main(void)
{
	world_init();
	world_stack_alloc(&stack);
	test_walk();
	test_last_instruction();
	test_random(false);
	test_random(true);
	test_two_distances(true);
	test_two_distances(false);
	test_larger_alone();
	test_hidden();
	test_nested();
	test_turns();
	test_odd_words();
	test_learn();
	test_set_full();
	test_generated();
	test_module();
	test_hole();
	test_shortcut();
	test_failures();
	test_check();
	test_asleep();
	free(stack.word);
	return tap_done();
}
