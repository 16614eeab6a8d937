// SPDX-License-Identifier: GPL-2.0
/* Call paths: the tree, what each CPU remembers, where a path ends. */

#include <pthread.h>
#include "shim.h"
#include "tap.h"
#include "world.h"
#include "primitives.c"
#include "table.c"
#include "site.c"
#include "path.c"

static struct task_struct task;
static struct world_stack stack;

static void load(unsigned int paths, unsigned int depth)
{
	shim_percpu_reset();
	memset(waitprof_memo, 0, sizeof(waitprof_memo));
	if (waitprof_table_init(64, 200) || waitprof_site_init() ||
	    waitprof_path_init(paths, depth))
		abort();
	shim_cpu = 0;
	shim_unwinds = 0;
	shim_current = &task;
}

static void unload(void)
{
	waitprof_path_exit();
	waitprof_site_exit();
	waitprof_table_exit();
}

/* As from the kprobe on an allocating function. */
static u32 path_at(u32 tracker, unsigned long *slot)
{
	struct pt_regs regs = { .ip = 0x1234, .di = 1, .sp = (unsigned long)slot };
	u32 path = waitprof_path(tracker, world_addr(ALLOC_BH), &regs);

	if (regs.ip != 0x1234)
		abort();
	return path;
}

/* The same by a walk, which is not remembered. */
static u32 path_walked(u32 tracker, unsigned long *slot)
{
	struct pt_regs regs = { .ip = 0x1234, .di = 1, .sp = (unsigned long)slot };
	struct waitprof_recent r;

	return waitprof_path_walk(&r, tracker, world_addr(ALLOC_BH), &regs);
}

/* "site_00<site_01" for a path: innermost first; with the tracker. */
static const char *path_text(u32 path)
{
	static char text[WAITPROF_DEPTH_MAX * WAITPROF_NAME_LEN];
	u32 sites[WAITPROF_DEPTH_MAX], tracker, depth, i;
	char name[WAITPROF_NAME_LEN];

	if (path == WAITPROF_PATH_OTHER)
		return "(other)";
	if (!waitprof_path_key(path, &tracker, sites, &depth))
		return "(none)";
	sprintf(text, "%u:", tracker);
	for (i = depth; i--;) {
		waitprof_site_name(sites[i], name, sizeof(name));
		name[strcspn(name, "+")] = '\0';
		strcat(strcat(text, name), i ? "<" : "");
	}
	return text;
}

static u64 misses(void)
{
	return waitprof_site_stats().misses;
}

/* Is the path on this stack remembered? Without the memo, nothing else spares
 * the unwinder.
 */
static bool remembered(u32 tracker, unsigned long *slot)
{
	struct waitprof_memo *kept = malloc(sizeof(waitprof_memo));
	struct waitprof_recent *r = *this_cpu_ptr(&waitprof_recents), was[WAITPROF_RECENTS];
	struct waitprof_site_stats *s = this_cpu_ptr(&waitprof_stats);
	struct waitprof_site_stats stats = *s;
	u32 turns = waitprof_memo_turns;
	u64 before = misses();
	bool ret;

	memcpy(was, r, sizeof(was));
	memcpy(kept, waitprof_memo, sizeof(waitprof_memo));
	memset(waitprof_memo, 0, sizeof(waitprof_memo));
	path_at(tracker, slot);
	ret = misses() == before;
	memcpy(waitprof_memo, kept, sizeof(waitprof_memo));
	memcpy(r, was, sizeof(was));
	*s = stats;
	waitprof_memo_turns = turns;
	free(kept);
	return ret;
}

/* Known to the memo and remembered, if it can be. */
static u32 path_taught(u32 tracker, unsigned long *slot)
{
	path_at(tracker, slot);
	path_at(tracker, slot);
	return path_at(tracker, slot);
}

#define CHAIN	{ SITES, 4 }, { SITES + 1, 6 }, { SITES + 2, 5 },	\
		{ SITES + 3, 9 }, { SITES + 4, 7 }, { SITES + 5, 3 },	\
		{ SITES + 6, 8 }, { SITES + 7, 2 }, { SITES + 8, 4 },	\
		{ SITES + 9, 4 }

static void test_depth(void)
{
	unsigned long *slot;
	unsigned int depth, i;
	char wanted[256];

	for (depth = 1; depth <= WAITPROF_DEPTH_MAX; depth++) {
		u32 path;

		load(64, depth);
		slot = world_stack(&stack, &task, 100, CALLS(CHAIN));
		strcpy(wanted, "3:");
		for (i = 0; i < depth; i++)
			sprintf(wanted + strlen(wanted), "%ssite_%02u",
				i ? "<" : "", i);
		path = path_at(3, slot);
		is_str(path_text(path), wanted, "depth %u, by the unwinder",
		       depth);
		ok(!remembered(3, slot), "depth %u: that is not remembered",
		   depth);
		is(path_at(3, slot), path, "depth %u, by the memo", depth);
		is(misses(), 1, "depth %u: one miss", depth);
		ok(remembered(3, slot), "depth %u: now it is", depth);
		is(path_at(3, slot), path, "depth %u, remembered", depth);
		/* What lies above the path is all the same. */
		slot = world_stack(&stack, &task, 100, CALLS(CHAIN));
		if (depth < 8)
			stack.frame[depth].ra = *stack.frame[depth].slot =
				world_ra(SITES + 20);
		is(path_at(3, slot), path, "depth %u: and no deeper", depth);
		unload();
	}
}

static void test_end(void)
{
	static const char * const entries[] = {
		"do_syscall_64", "do_int80_syscall_32", "__do_fast_syscall_32",
		"do_int80_emulation", "invoke_syscall", "el0_svc_common",
	};
	unsigned long *slot;
	unsigned int i;
	u32 path;

	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		const char *name = world_symbols[SYSCALL].name;
		unsigned int distance;
		char wanted[64];

		load(64, 4);
		world_symbols[SYSCALL].name = entries[i];
		sprintf(wanted, "0:site_00<%s", entries[i]);
		/* Above, the stack is moved by a random distance. */
		for (distance = 5; distance < 9; distance++) {
			slot = world_stack(&stack, &task, 100,
					   CALLS({ SITES, 4 },
						 { SYSCALL, distance },
						 { SITES + 2, 5 }));
			path = path_at(0, slot);
			is_str(path_text(path), wanted,
			       "ends at %s, %u words from what is above",
			       entries[i], distance);
		}
		is(misses(), 1, "%s: learnt once", entries[i]);
		ok(remembered(0, slot), "%s: and remembered", entries[i]);
		world_symbols[SYSCALL].name = name;
		unload();
	}

	/* Whatever was interrupted. */
	load(64, 4);
	for (i = 0; i < 4; i++) {
		slot = world_stack(&stack, &task, 100,
				   CALLS({ SITES, 4 }, { SITES + 1, 6 },
					 { SITES + 10 + i, 5 },
					 { SITES + 3, 4 }));
		stack.frame[2].entry = true;
		is_str(path_text(path_at(1, slot)), "1:site_00<site_01",
		       "ends where an interrupt came in, %u", i);
	}
	is(misses(), 1, "an interrupt: learnt once");
	ok(remembered(1, slot), "an interrupt: and remembered");
	/* The same functions, called by others. */
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SITES, 4 }, { SITES + 2, 6 }, { SITES + 3, 4 }));
	is_str(path_text(path_at(1, slot)), "1:site_00<site_02<site_03",
	       "and where the stack ends");
	is_str(path_text(path_at(1, slot)), "1:site_00<site_02<site_03",
	       "by the memo, too");
	slot = world_stack(&stack, &task, 100, CALLS({ SITES + 4, 4 }));
	is_str(path_text(path_at(1, slot)), "1:site_04", "one frame");
	stack.frame[0].entry = true;
	memset(waitprof_memo, 0, sizeof(waitprof_memo));
	waitprof_memo_turns++;
	is_str(path_text(path_at(1, slot)), "1:(unknown)",
	       "an interrupt in the function itself: nothing is known");
	task.nframes = 0;
	i = waitprof_site_stats().failed;
	is_str(path_text(path_at(1, slot)), "1:(unknown)", "nor without a frame");
	is(waitprof_site_stats().failed, i + 1, "which is counted");
	ok(!remembered(1, slot), "and not remembered");
	unload();
}

/* A guess of the unwinder's is taken, and nothing learnt from it. */
static void test_guess(void)
{
	unsigned long *slot;

	load(64, 4);
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SITES, 4 }, { SITES + 1, 6 }, { SITES + 2, 4 }));
	stack.frame[1].guess = true;
	is_str(path_text(path_at(0, slot)), "0:site_00<site_01<site_02",
	       "a guess");
	is(waitprof_memo_what(world_ra(SITES + 1)), 0, "teaches nothing");
	ok(!remembered(0, slot), "nor is it remembered");
	unload();

	/* Code made at run time is no frame of a path, and may move. */
	load(64, 3);
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SITES, 4 }, { TRAMPOLINE, 6 }, { BPF_PROG, 5 },
				 { SITES + 1, 6 }, { SITES + 2, 4 },
				 { SITES + 3, 4 }));
	is_str(path_text(path_taught(0, slot)), "0:site_00<site_01<site_02",
	       "generated code is skipped");
	is(waitprof_memo_what(world_ra(TRAMPOLINE)) |
	   waitprof_memo_what(world_ra(BPF_PROG)), 0, "and not kept");
	ok(!remembered(0, slot), "nor is the path");
	unload();

	{	/* A function with a return probe returns to this. */
		static const char * const trampolines[] = {
			"kretprobe_trampoline", "__kretprobe_trampoline",
			"arch_rethook_trampoline", "return_to_handler",
		};
		struct shim_symbol *s = &world_symbols[TRAMPOLINE], was = *s;
		unsigned int i;

		for (i = 0; i < ARRAY_SIZE(trampolines); i++) {
			load(64, 2);
			s->name = trampolines[i];
			s->module = NULL;
			slot = world_stack(&stack, &task, 100,
					   CALLS({ SITES, 4 }, { TRAMPOLINE, 6 },
						 { SITES + 1, 6 },
						 { SITES + 2, 4 }));
			/* its first instruction */
			*stack.frame[1].slot = stack.frame[1].ra = s->start;
			is_str(path_text(path_taught(0, slot)),
			       "0:site_00<site_01", "%s is skipped", s->name);
			ok(!remembered(0, slot), "%s: not remembered", s->name);
			unload();
		}
		*s = was;
	}
}

static void test_trackers(void)
{
	unsigned long *slot;
	u32 a, b, c;

	load(64, 3);
	slot = world_stack(&stack, &task, 100, CALLS(CHAIN));
	a = path_taught(0, slot);
	b = path_taught(1, slot);
	c = path_taught(0x7ffffffe, slot);
	ok(a != b && b != c && a != c, "a stack, three trackers, three paths");
	is(path_at(0, slot), a, "each its own, 0");
	is(path_at(1, slot), b, "each its own, 1");
	is(path_at(0x7ffffffe, slot), c, "each its own, the last that there may be");
	ok(!remembered(1, slot), "what is remembered is one tracker's");
	is_str(path_text(a), "0:site_00<site_01<site_02", "its key tells, 0");
	is_str(path_text(b), "1:site_00<site_01<site_02", "its key tells, 1");
	is_str(path_text(c), "2147483646:site_00<site_01<site_02",
	       "its key tells, the last");
	/* A node is a path of its own, and shared by all that go on from it. */
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SITES, 4 }, { SITES + 1, 6 }));
	a = waitprof_path_keys[a] >> 32;
	memset(waitprof_memo, 0, sizeof(waitprof_memo));
	waitprof_memo_turns++;
	is(path_at(0, slot), a, "a path is the parent of a longer one");
	unload();
}

static void test_full(void)
{
	static u32 first[40];
	unsigned int state = 7, i, n, moved = 0, other = 0, kept = 0, wrong = 0;
	unsigned long *slot;
	char wanted[64];

	/* Each path takes three: there is room for four, and a rest of one. */
	load(13, 3);
	for (n = 0; n < 4000; n++) {
		i = n < 40 ? n : tap_random(&state) % 40;
		shim_cpu = n % SHIM_CPUS;
		slot = world_stack(&stack, &task, 100 + n % 2,
				   CALLS({ SITES + i, 4 }, { SITES + 40, 5 },
					 { SITES + 41 + i % 20, 6 },
					 { SITES + 62, 3 }));
		if (n < 40)
			first[i] = path_at(0, slot);
		else
			moved += path_at(0, slot) != first[i];
		sprintf(wanted, "0:site_%02u<site_40<site_%02u", i, 41 + i % 20);
		wrong += first[i] != WAITPROF_PATH_OTHER &&
			 strcmp(path_text(first[i]), wanted);
	}
	for (i = 0; i < 40; i++) {
		other += first[i] == WAITPROF_PATH_OTHER;
		kept += first[i] != WAITPROF_PATH_OTHER;
	}
	is(kept, 4, "a full table: those that came first have their paths");
	is(other, 36, "a full table: the others are in (other)");
	is(moved, 0, "a full table: and each stays where it was");
	is(wrong, 0, "a full table: a path is what its number says");
	is(waitprof_paths_end(), 14, "a full table: the numbers");
	unload();

	/* A path is whole in (other), also if a part of it has a place. */
	load(2, 3);
	slot = world_stack(&stack, &task, 100, CALLS(CHAIN));
	is(path_at(0, slot), WAITPROF_PATH_OTHER, "one place too few");
	is(path_taught(0, slot), WAITPROF_PATH_OTHER, "still");
	ok(remembered(0, slot), "(other) can be remembered");
	is(path_at(0, slot), WAITPROF_PATH_OTHER, "and is");
	unload();

	load(1, 1);
	slot = world_stack(&stack, &task, 100, CALLS(CHAIN));
	is(path_at(5, slot), 1, "a table of one");
	is(path_at(5, slot), 1, "is enough for one");
	is(path_at(6, slot), WAITPROF_PATH_OTHER, "and for no more");
	unload();
}

/* Another CPU takes a place between the look and the claim. */
static u64 intruder;

static void intrude(void)
{
	u32 i;

	shim_on_cmpxchg = NULL;
	for (i = 1; i <= waitprof_npaths; i++)
		if (!waitprof_path_keys[i]) {
			waitprof_path_keys[i] = intruder;
			return;
		}
}

static void test_race(void)
{
	u64 key = (u64)WAITPROF_PATH_ROOT(0) << 32 | 9;

	load(1, 1);
	intruder = key;
	shim_on_cmpxchg = intrude;
	is(waitprof_path_child(WAITPROF_PATH_ROOT(0), 9), 1,
	   "another CPU has just inserted the same");
	unload();
	load(1, 1);
	intruder = key + 1;
	shim_on_cmpxchg = intrude;
	is(waitprof_path_child(WAITPROF_PATH_ROOT(0), 9), WAITPROF_PATH_OTHER,
	   "or something else, at the last place");
	is(waitprof_path_keys[1], key + 1, "which stands");
	shim_on_cmpxchg = NULL;
	unload();
}

static void test_recent(void)
{
	unsigned long *slot;
	u32 a, b, c;

	load(64, 3);
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SITES, 4 }, { SITES + 1, 6 }, { SITES + 2, 4 },
				 { SITES + 9, 3 }));
	a = path_taught(0, slot);
	ok(remembered(0, slot), "remembered");
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SITES, 4 }, { SITES + 3, 6 }, { SITES + 2, 4 },
				 { SITES + 9, 3 }));
	ok(!remembered(0, slot), "the same place, another caller: not that");
	b = path_at(0, slot);
	is_str(path_text(b), "0:site_00<site_03<site_02", "but its own path");
	is(path_taught(0, slot), b, "again");
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SITES, 4 }, { SITES + 1, 6 }, { SITES + 4, 4 },
				 { SITES + 9, 3 }));
	c = path_at(0, slot);
	is_str(path_text(c), "0:site_00<site_01<site_04",
	       "another caller's caller");
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SITES, 4 }, { SITES + 1, 6 }, { SITES + 2, 4 },
				 { SITES + 9, 3 }));
	is(path_at(0, slot), a, "and the first again");
	path_taught(0, slot);
	slot = world_stack(&stack, &task, 101,
			   CALLS({ SITES, 4 }, { SITES + 1, 6 }, { SITES + 2, 4 },
				 { SITES + 9, 3 }));
	ok(!remembered(0, slot), "another place: not remembered");
	is(path_at(0, slot), a, "but the same path");

	path_taught(0, slot);
	ok(remembered(0, slot), "remembered");
	shim_cpu = 1;
	ok(!remembered(0, slot), "but not on another CPU");
	is(path_at(0, slot), a, "where it is the same path");
	shim_cpu = 0;
	waitprof_memo_turns++;
	ok(!remembered(0, slot), "forgotten when the memo turns");
	is(path_at(0, slot), a, "and found again");
	ok(remembered(0, slot), "and remembered again");
	shim_cpu = 1;
	ok(!remembered(0, slot), "forgotten on all CPUs");
	shim_cpu = 0;

	unload();
}

/* Functions that align their stack. */
static void test_two_distances(void)
{
	unsigned long *slot;
	unsigned int i;
	u32 path[2];

	load(64, 3);
	for (i = 0; i < 6; i++) {
		slot = world_stack(&stack, &task, 100,
				   CALLS({ SITES, 4 }, { MUTEX_LOCK, 10 + i % 2 },
					 { SITES + 2, 4 }, { SITES + 9, 3 }));
		slot[4 + 10 + !(i % 2)] = (unsigned long)(slot + 40);
		path[i % 2] = path_taught(0, slot);
	}
	is(waitprof_memo_what(world_ra(MUTEX_LOCK)) & WAITPROF_MEMO_DISTANCES,
	   10ull << WAITPROF_MEMO_LO | 11ull << WAITPROF_MEMO_HI,
	   "a frame with two distances");
	is(path[0], path[1], "makes one path");
	is_str(path_text(path[0]), "0:site_00<__mutex_lock.constprop.0<site_02",
	       "the right one");
	ok(!remembered(0, slot), "and is not remembered");
	unload();

	/* As the last of a path it may have as many as it likes. */
	load(64, 2);
	for (i = 0; i < 6; i++) {
		slot = world_stack(&stack, &task, 100,
				   CALLS({ SITES, 4 }, { MUTEX_LOCK, 10 + i % 2 },
					 { SITES + 2, 4 }, { SITES + 9, 3 }));
		path_taught(0, slot);
	}
	ok(remembered(0, slot), "as the last of a path it does not matter");
	unload();
}

/* A function whose frame was thought to be of one size. What is remembered from
 * then has to go: in the place of the next address may lie an old one.
 */
static void test_late_distance(void)
{
	unsigned long *slot;
	u32 old;

	load(64, 2);
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SITES, 10 }, { SITES + 1, 6 }, { SITES + 9, 3 }));
	old = path_taught(0, slot);
	is_str(path_text(old), "0:site_00<site_01", "one distance is known");
	/* Now it has 40 words of its own, in which nothing lies yet. */
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SITES, 50 }, { SITES + 2, 6 }, { SITES + 9, 3 }));
	is_str(path_text(path_at(0, slot)), "0:site_00<site_02",
	       "another is met");
	ok(waitprof_memo_what(world_ra(SITES)) & WAITPROF_MEMO_NEVER,
	   "and it has any from now on");
	slot[10] = world_ra(SITES + 1);
	is_str(path_text(path_walked(0, slot)), "0:site_00<site_02",
	       "an old address in its frame does not mislead the walk");
	is_str(path_text(path_at(0, slot)), "0:site_00<site_02",
	       "nor what is remembered");
	unload();
}

/* The same for one that has turned out to have two distances. */
static void test_late_align(void)
{
	unsigned long *slot;
	u32 old;

	load(64, 3);
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SITES, 4 }, { MUTEX_LOCK, 10 },
				 { SITES + 1, 6 }, { SITES + 9, 3 }));
	old = path_taught(0, slot);
	ok(remembered(0, slot), "one of two distances is known, and remembered");
	slot = world_stack(&stack, &task, 200,
			   CALLS({ SITES + 2, 4 }, { MUTEX_LOCK, 11 },
				 { SITES + 1, 6 }, { SITES + 9, 3 }));
	slot[4 + 10] = (unsigned long)(slot + 40);
	path_at(0, slot);
	ok(waitprof_memo_what(world_ra(MUTEX_LOCK)) & WAITPROF_MEMO_ALIGN,
	   "the other is met");
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SITES, 4 }, { MUTEX_LOCK, 10 },
				 { SITES + 1, 6 }, { SITES + 9, 3 }));
	ok(!remembered(0, slot), "nothing is remembered any more");
	is(path_taught(0, slot), old, "the path is the same");
	ok(!remembered(0, slot), "and not remembered again");
	unload();
}

/* Paths that are shorter than they may be. */
static void test_frames(void)
{
	static const struct world_call chain[] = { CHAIN };
	struct world_call calls[WAITPROF_DEPTH_MAX];
	unsigned int depth, n, i, wrong = 0;

	for (depth = 1; depth <= WAITPROF_DEPTH_MAX; depth++) {
		for (n = 1; n <= depth; n++) {
			struct waitprof_recent *r;
			unsigned long *slot, ra;

			load(64, depth);
			memcpy(calls, chain, sizeof(calls));
			if (n < depth)	/* here it ends */
				calls[n - 1].func = SYSCALL;
			slot = world_stack(&stack, &task, 100, calls,
					   ARRAY_SIZE(calls));
			path_taught(0, slot);
			wrong += !remembered(0, slot);
			r = *this_cpu_ptr(&waitprof_recents) +
			    (*slot >> 4) % WAITPROF_RECENTS;
			for (i = 0; i < WAITPROF_DEPTH_MAX; i++)
				wrong += (r->frame[i].at == &r->frame[i].ra) !=
					 (i >= n);
			/* Each of them counts, what lies above does not. */
			for (i = 1; i < ARRAY_SIZE(calls); i++) {
				ra = *stack.frame[i].slot;
				*stack.frame[i].slot = world_ra(SITES + 20);
				wrong += remembered(0, slot) != (i >= n);
				*stack.frame[i].slot = ra;
			}
			unload();
		}
	}
	is(wrong, 0, "1 to 8 frames at a depth of 1 to 8: what is remembered");
}

/* Return addresses that return probes have hidden. */
static void test_hidden(void)
{
	unsigned int i;

	for (i = 0; i < 3; i++) {
		unsigned long *slot;
		u64 before;
		u32 path;

		load(64, 3);
		slot = world_stack(&stack, &task, 100, CALLS(CHAIN));
		path = path_taught(0, slot);
		ok(remembered(0, slot), "hidden, %u: before, it is remembered", i);
		world_hook(&task, &stack.frame[i], 2);
		is(path_at(0, slot), path, "hidden, %u: the same path", i);
		before = shim_unwinds;
		is(path_taught(0, slot), path, "hidden, %u: once more", i);
		is(shim_unwinds, before, "hidden, %u: by the memo", i);
		ok(!remembered(0, slot), "hidden, %u: not remembered", i);
		/* The same words, of others. */
		slot = world_stack(&stack, &task, 100, CALLS(CHAIN));
		stack.frame[i].ra = *stack.frame[i].slot = world_ra(SITES + 20 + i);
		world_unhook(&task);
		world_hook(&task, &stack.frame[i], 2);
		ok(path_at(0, slot) != path, "hidden, %u: another behind it", i);
		world_unhook(&task);
		is(path_at(0, slot), path_walked(0, slot),
		   "hidden, %u: by probes that are not in the list", i);
		slot = world_stack(&stack, &task, 100, CALLS(CHAIN));
		is(path_taught(0, slot), path, "hidden, %u: no longer", i);
		ok(remembered(0, slot), "hidden, %u: and remembered", i);
		unload();
	}
}

/* A tracked function that is called by the unwinder, at work for another. */
static struct world_stack nested_stack;
static unsigned long *nested_slot;
static u32 nested_path;

static void nested(void)
{
	const struct shim_frame *frame = task.frame;

	shim_on_unwind = NULL;
	task.frame = nested_stack.frame;
	nested_path = path_at(1, nested_slot);
	task.frame = frame;
}

static void test_nested(void)
{
	unsigned int known;

	world_stack_alloc(&nested_stack);
	for (known = 0; known < 3; known++) {
		static const char * const how[] = {
			"not known", "known to the memo", "remembered"
		};
		unsigned long *slot;
		u32 path;

		load(64, 3);
		/* the same first address: both are remembered in one place */
		nested_slot = world_stack(&nested_stack, &task, 300,
					  CALLS({ SITES, 4 }, { SITES + 11, 6 },
						{ SITES + 12, 5 },
						{ SITES + 13, 4 }));
		if (known)
			path_at(1, nested_slot);
		if (known == 2)
			path_taught(1, nested_slot);
		slot = world_stack(&stack, &task, 100, CALLS(CHAIN));
		task.nframes = 4;
		shim_on_unwind = nested;
		path = path_at(0, slot);
		is_str(path_text(path), "0:site_00<site_01<site_02",
		       "nested, %s: the first has its path", how[known]);
		is_str(path_text(nested_path),
		       known ? "1:site_00<site_11<site_12" : "1:(unknown)",
		       "nested, %s: as has the second, if it can", how[known]);
		is(waitprof_site_stats().failed, !known, "nested, %s: counted",
		   how[known]);
		is(path_taught(0, slot), path, "nested, %s: and again", how[known]);
		ok(remembered(0, slot), "nested, %s: remembered", how[known]);
		task.frame = nested_stack.frame;
		is_str(path_text(path_at(1, nested_slot)),
		       "1:site_00<site_11<site_12",
		       "nested, %s: the second, by itself", how[known]);
		unload();
	}
	free(nested_stack.word);
}

struct known {
	u32 tracker;
	unsigned int n;
	unsigned long ra[WAITPROF_DEPTH_MAX];
	u32 path;
};

static struct known known[8192];
static unsigned int nknown;

/* The number that this path got when it was first met. */
static u32 known_path(const struct known *k)
{
	unsigned int i;

	for (i = 0; i < nknown; i++)
		if (known[i].tracker == k->tracker && known[i].n == k->n &&
		    !memcmp(known[i].ra, k->ra, k->n * sizeof(k->ra[0])))
			return known[i].path;
	if (nknown == ARRAY_SIZE(known))
		abort();
	known[nknown++] = *k;
	return k->path;
}

/* Whatever is called by whatever, from whatever place: what is remembered is
 * what the walk says, and that is what the stack is. The stack is not wiped in
 * between, so old addresses lie about.
 */
static void test_random(unsigned int depth, unsigned int paths)
{
	unsigned int state = depth, wrong = 0, differs = 0, n, i, j;
	unsigned int from_cache = 0, others = 0, split = 0;
	enum { STACKS = 20000 };

	load(paths, depth);
	nknown = 0;
	for (n = 0; n < STACKS; n++) {
		u32 tracker = tap_random(&state) % 2;
		unsigned int frames = 1 + tap_random(&state) % 10;
		unsigned int at = 100 + tap_random(&state) % 3;
		struct known k = { .tracker = tracker };
		struct shim_frame *f = stack.frame;
		unsigned long *slot;

		if (!(n % 5000))
			waitprof_memo_turns++;
		shim_cpu = tap_random(&state) % 2;
		memset(stack.frame, 0, sizeof(stack.frame));
		for (i = 0; i < frames; i++) {
			/* of each, two; the last ones are seldom */
			int func = SITES + 2 * (i / 2) + tap_random(&state) % 2;
			unsigned int distance = 4 + (func - SITES) * 3;

			if (i == frames - 1) {
				/* a stack does not end just anywhere */
				func = SITES + 30;
			} else if (i && !(tap_random(&state) % 12)) {
				func = SYSCALL;
				distance = 4 + tap_random(&state) % 9;
			} else if (!(tap_random(&state) % 6) && !(at & 1)) {
				/* aligned below, not above */
				func = MUTEX_LOCK;
				distance = 15 + tap_random(&state) % 2;
			} else if (!(tap_random(&state) % 40)) {
				func = TRAMPOLINE;
			}
			f[i].ra = world_ra(func);
			/* so that they are not all remembered in one place */
			if (func >= SITES)
				f[i].ra += (func & 7) << 4;
			f[i].slot = &stack.word[at];
			/* an interrupt comes in by a function of its own */
			f[i].entry = i && f[i - 1].ra - world_addr(SITES + 5) < WORLD_SIZE;
			if (f[i].entry)
				f[i].ra += tap_random(&state) % 64;
			else
				stack.word[at] = f[i].ra;
			at += distance;
			if (func != MUTEX_LOCK)
				continue;
			/* The frame pointer, and the caller's. */
			f[i].bp = &stack.word[at - 1];
			f[i].slot[-1] = (unsigned long)f[i].bp;
			stack.word[at - 1] = (unsigned long)&stack.word[at + 60];
		}
		world_unhook(&task);
		for (i = frames; i--;)
			if (!f[i].entry && !(tap_random(&state) % 30))
				world_hook(&task, &f[i], 1 + i % 2);
		task.frame = f;
		task.nframes = frames;
		slot = f[0].slot;
		for (i = j = 0; i < frames && j < depth; i++) {
			if (f[i].entry)
				break;
			if (f[i].ra == world_ra(TRAMPOLINE))
				continue;
			k.ra[j++] = f[i].ra;
			if (f[i].ra == world_ra(SYSCALL))
				break;
		}
		k.n = j;
		k.path = path_at(tracker, slot);
		split += known_path(&k) != k.path;
		differs += path_walked(tracker, slot) != k.path;
		if (k.path == WAITPROF_PATH_OTHER) {
			others++;
		} else {
			u32 sites[WAITPROF_DEPTH_MAX], of, len;

			waitprof_path_key(k.path, &of, sites, &len);
			wrong += of != tracker || len != j;
			for (i = 0; i < j && len == j; i++)
				wrong += waitprof_site_addr(sites[i]) !=
					 k.ra[j - 1 - i];
		}
		if (!(n % 8))
			from_cache += remembered(tracker, slot);
	}
	is(wrong, 0, "%u stacks, depth %u, %u paths: each its path", STACKS,
	   depth, paths);
	is(split, 0, "depth %u, %u paths: the same each time", depth, paths);
	is(differs, 0, "depth %u, %u paths: remembered or walked", depth, paths);
	ok(from_cache > 50, "depth %u, %u paths: %u of %u were remembered",
	   depth, paths, from_cache, STACKS / 8);
	ok(!others == (paths == 16384), "depth %u, %u paths: %u in (other)",
	   depth, paths, others);
	world_unhook(&task);
	unload();
	memset(stack.word, 0, THREAD_SIZE);
}

/* The addresses of a module that goes may be another's tomorrow. */
static void test_module(void)
{
	unsigned long *slot;
	u32 old, new, core;

	load(64, 3);
	slot = world_stack(&stack, &task, 100,
			   CALLS({ MOD_WAIT, 4 }, { SITES + 1, 6 },
				 { SITES + 2, 4 }, { SITES + 9, 3 }));
	old = path_taught(0, slot);
	shim_notify(MODULE_STATE_GOING, &world_module);
	new = path_at(0, slot);
	ok(old != new, "a module has gone: a new path");
	is(path_taught(0, slot), new, "a module has gone: and that is remembered");
	is_str(path_text(old), "0:mod_wait<site_01<site_02",
	       "a module has gone: the old one is still named");
	is(path_taught(0, slot), path_walked(0, slot),
	   "a module has gone: the walk says so, too");

	/* In the middle of a path. */
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SITES, 4 }, { MOD_WAIT2, 6 },
				 { SITES + 2, 4 }, { SITES + 9, 3 }));
	old = path_taught(0, slot);
	shim_notify(MODULE_STATE_GOING, &world_module);
	ok(path_taught(0, slot) != old, "a module in the middle of a path");

	/* Live: the part for init only. */
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SITES, 4 }, { MOD_WAIT2, 6 },
				 { SITES + 2, 4 }, { SITES + 9, 3 }));
	core = path_taught(0, slot);
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SITES, 4 }, { MOD_INIT, 6 },
				 { SITES + 2, 4 }, { SITES + 9, 3 }));
	old = path_taught(0, slot);
	shim_notify(MODULE_STATE_LIVE, &world_module);
	ok(path_taught(0, slot) != old, "live: its init part is a new path");
	slot = world_stack(&stack, &task, 100,
			   CALLS({ SITES, 4 }, { MOD_WAIT2, 6 },
				 { SITES + 2, 4 }, { SITES + 9, 3 }));
	is(path_taught(0, slot), core, "live: and nothing else");
	unload();
}

/* As many CPUs as there are, at one time: each path has one number. */
enum { THREADS = SHIM_CPUS, TRIES = 4000 };

static u32 met[THREADS][50];
static pthread_barrier_t start_line;

static void *insert(void *arg)
{
	int cpu = (long)arg;
	unsigned int state = cpu, n;

	shim_cpu = cpu;
	pthread_barrier_wait(&start_line);
	for (n = 0; n < TRIES; n++) {
		unsigned int i = n < 50 ? (n + cpu * 13) % 50 :
					  tap_random(&state) % 50;
		u32 path = WAITPROF_PATH_ROOT(i % 2), j;

		for (j = 0; j < 3 && path != WAITPROF_PATH_OTHER; j++)
			path = waitprof_path_child(path, 10 + (i >> j));
		if (met[cpu][i] && met[cpu][i] != path + 1)
			met[cpu][i] = ~0u;
		else
			met[cpu][i] = path + 1;
	}
	return NULL;
}

static void test_threads(unsigned int paths)
{
	unsigned int i, j, wrong = 0, others = 0;
	pthread_t thread[THREADS];

	load(paths, 3);
	memset(met, 0, sizeof(met));
	pthread_barrier_init(&start_line, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, insert, (void *)(long)i);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < 50; i++) {
		others += met[0][i] == WAITPROF_PATH_OTHER + 1;
		for (j = 0; j < THREADS; j++)
			wrong += met[j][i] != met[0][i] || met[j][i] == ~0u;
	}
	is(wrong, 0, "%u CPUs, %u paths: they agree on every number", THREADS,
	   paths);
	ok(!others == (paths > 150), "%u CPUs, %u paths: %u in (other)", THREADS,
	   paths, others);
	pthread_barrier_destroy(&start_line);
	unload();
}

static void test_memory(void)
{
	load(64, 3);
	is(waitprof_path_bytes(), 65 * 8 + SHIM_CPUS * sizeof(waitprof_recents),
	   "its memory");
	unload();
	is(shim_allocs, 0, "all is given back");
	shim_alloc_left = 0;
	is(waitprof_path_init(64, 3), -ENOMEM, "no memory");
	shim_alloc_left = -1;
	is(shim_allocs, 0, "leaves nothing");
	{
		u32 tracker, sites[WAITPROF_DEPTH_MAX], depth;

		load(64, 3);
		ok(!waitprof_path_key(WAITPROF_PATH_OTHER, &tracker, sites,
				      &depth), "(other) is no path of a tracker");
		ok(!waitprof_path_key(64, &tracker, sites, &depth),
		   "nor is an empty place");
		unload();
	}
}

int main(void)
{
	unsigned int depth;

	world_init();
	world_stack_alloc(&stack);
	test_depth();
	test_end();
	test_guess();
	test_trackers();
	test_full();
	test_race();
	test_recent();
	test_two_distances();
	test_late_distance();
	test_late_align();
	test_frames();
	test_hidden();
	test_nested();
	for (depth = 1; depth <= WAITPROF_DEPTH_MAX; depth++)
		test_random(depth, 16384);
	test_random(4, 40);
	test_module();
	test_threads(400);
	test_threads(60);
	test_memory();
	free(stack.word);
	return tap_done();
}
