// SPDX-License-Identifier: GPL-2.0
/* AGGREGATE: which frame is the call site. See site.h. */

#include <linux/bitops.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include "primitives.h"
#include "site.h"

/* Frames looked at before the search is given up. The deepest chain of
 * primitives that was ever seen has 7.
 */
#define WAITPROF_DEPTH		32

struct waitprof_memo waitprof_memo[1 << WAITPROF_MEMO_BITS];
struct waitprof_shortcut waitprof_shortcut;
DEFINE_STATIC_KEY_FALSE(waitprof_check);

/* Who sets bit 0 may write to the memo. A probe that finds it set does without
 * learning; only process context waits for it.
 */
static unsigned long waitprof_memo_busy;

static DEFINE_PER_CPU(struct waitprof_site_stats, waitprof_stats);
static DEFINE_PER_CPU(char[KSYM_SYMBOL_LEN], waitprof_symbol);

enum waitprof_frame {
	WAITPROF_FRAME_SITE,
	WAITPROF_FRAME_PRIMITIVE,
	WAITPROF_FRAME_GENERATED,	/* code made at run time, may move */
};

static enum waitprof_frame waitprof_classify(unsigned long ra, char *symbol)
{
	char *module;

	/* A call may be the last instruction of its function. */
	sprint_symbol_no_offset(symbol, ra - 1);
	module = strchr(symbol, '[');
	if (module && (!strcmp(module, "[bpf]") ||
		       !strncmp(module, "[__builtin__", 12)))
		return WAITPROF_FRAME_GENERATED;
	return waitprof_primitive(symbol) ? WAITPROF_FRAME_PRIMITIVE :
					    WAITPROF_FRAME_SITE;
}

/* A way of the set: the one that has @ra, else a free one, else NULL. */
static u64 *waitprof_memo_way(unsigned long ra)
{
	struct waitprof_memo *set =
		&waitprof_memo[hash_long(ra, WAITPROF_MEMO_BITS)];
	int i, free = -1;

	for (i = WAITPROF_MEMO_WAYS - 1; i >= 0; i--) {
		if (set->ra[i] == ra)
			return &set->what[i];
		if (!set->ra[i])
			free = i;
	}
	if (free < 0)
		return NULL;
	WRITE_ONCE(set->what[free], 0);
	/* Pairs with waitprof_memo_what(). What it is comes after: until then
	 * the address is one that the memo does not know.
	 */
	smp_store_release(&set->ra[free], ra);
	return &set->what[free];
}

/* What is to be kept of a return address whose next was seen at a distance.
 * @known: what is known already, 0 if nothing
 * @bp: the frame pointer register, which tells that the function aligns its
 *	stack (nothing else uses it so), and then, if 16 bytes are meant, which
 *	of the two distances this is
 */
static u64 waitprof_memo_distance(u64 known, unsigned long *slot,
				  unsigned long *next, unsigned long *bp)
{
	u64 d = next - slot, lo = known & 0xffff, hi = known >> 16;

	if (next <= slot || d >= 0xffff || known & WAITPROF_MEMO_NEVER)
		return WAITPROF_MEMO_NEVER;
	if (d == lo || d == hi)
		return known;
	if (!known && bp + 1 == next)
		return (unsigned long)bp & 8 ? d << 16 | (d - 1) :
					       (d + 1) << 16 | d;
	if (!known)
		return d;
	if (!hi && d == lo + 1)
		return d << 16 | lo;
	if (!hi && lo == d + 1)
		return lo << 16 | d;
	return WAITPROF_MEMO_NEVER;
}

/* Learn that @ra is the site @site, or the distance to the next. */
static void waitprof_memo_learn(unsigned long ra, u32 site,
				unsigned long *slot, unsigned long *next,
				unsigned long *bp)
{
	u64 *way;

	if (test_and_set_bit_lock(0, &waitprof_memo_busy))
		return;
	way = waitprof_memo_way(ra);
	if (!way)
		this_cpu_inc(waitprof_stats.full);
	else if (!site && !(*way & WAITPROF_MEMO_SITE))
		WRITE_ONCE(*way, waitprof_memo_distance(*way, slot, next, bp));
	else if (site && !*way)
		WRITE_ONCE(*way, WAITPROF_MEMO_SITE | site);
	clear_bit_unlock(0, &waitprof_memo_busy);
}

/**
 * waitprof_memo_walk_both() - waitprof_memo_walk() where there are two distances
 * @slot: place of a return address, on the stack of a task that stays there
 *
 * Context: any with preemption off.
 * Return: see waitprof_memo_walk().
 */
noinline u32 waitprof_memo_walk_both(unsigned long *slot)
{
	unsigned long *p = slot, *other = NULL;

	while (waitprof_same_stack(p, slot)) {
		unsigned long word = READ_ONCE_NOCHECK(*p);
		u64 what = waitprof_memo_what(word);

		if (what & WAITPROF_MEMO_SITE)
			return what;
		if (what == WAITPROF_MEMO_NEVER)
			break;
		if (what) {
			other = what >> 16 ? p + (what >> 16) : NULL;
			p += what & 0xffff;
		} else if (other && !waitprof_unwind_text(word)) {
			/* A saved frame pointer; not a return address that is
			 * merely not known yet.
			 */
			p = other;
			other = NULL;
		} else {
			break;
		}
	}
	return WAITPROF_SITE_NONE;
}

/* The two constant frames at the head of a sleep, seen by the switch probe. */
static void waitprof_shortcut_learn(unsigned long ra0, long d0,
				    unsigned long ra1, long d1)
{
	struct waitprof_shortcut *s = &waitprof_shortcut;

	if (READ_ONCE(s->ra0) || d0 <= 0 || d1 <= 0)
		return;
	if (test_and_set_bit_lock(0, &waitprof_memo_busy))
		return;
	if (!s->ra0) {
		s->ra1 = ra1;
		s->d0 = d0;
		s->d = d0 + d1;
		/* Pairs with waitprof_past_schedule(). */
		smp_store_release(&s->ra0, ra0);
	}
	clear_bit_unlock(0, &waitprof_memo_busy);
}

/* How much of what an unwinding sees is kept. */
enum waitprof_learn {
	WAITPROF_LEARN_NOTHING,
	WAITPROF_LEARN_MEMO,
	WAITPROF_LEARN_SHORTCUT,	/* the memo, and the first two frames */
};

/* Find the site with the kernel's unwinder, which has been started. */
static u32 waitprof_unwind_site(struct waitprof_unwind *u,
				enum waitprof_learn learn)
{
	char *symbol = *this_cpu_ptr(&waitprof_symbol);
	unsigned long *slot, *bp = NULL, *slots[2] = {};
	unsigned long ra, ras[2] = {};
	bool schedule = learn == WAITPROF_LEARN_SHORTCUT;
	u32 site;
	int i;

	for (i = 0; i < WAITPROF_DEPTH; i++, waitprof_unwind_next(u)) {
		enum waitprof_frame frame;
		bool sure = learn && !unwind_error(&u->st);

		ra = waitprof_unwind_ra(u);
		slot = waitprof_unwind_slot(u);
		if (!ra)
			break;
		/* ras[1] and slots[1] are those of the frame before. */
		if (sure && ras[1] && slot)
			waitprof_memo_learn(ras[1], WAITPROF_SITE_NONE,
					    slots[1], slot, bp);
		if (sure && schedule && i == 2)
			waitprof_shortcut_learn(ras[0], slots[1] - slots[0],
						ras[1], slot - slots[1]);

		frame = waitprof_classify(ra, symbol);
		if (frame == WAITPROF_FRAME_SITE) {
			site = waitprof_site_get(ra);
			if (sure)
				waitprof_memo_learn(ra, site, NULL, NULL, NULL);
			return site;
		}
		if (i == 0)
			schedule &= !strcmp(symbol, "__schedule");
		else if (i == 1)
			schedule &= !strcmp(symbol, "schedule");
		ras[0] = ras[1];
		slots[0] = slots[1];
		ras[1] = frame == WAITPROF_FRAME_PRIMITIVE && slot ? ra : 0;
		slots[1] = slot;
		bp = slot ? waitprof_unwind_bp(u) : NULL;
	}
	this_cpu_inc(waitprof_stats.failed);
	return WAITPROF_SITE_UNKNOWN;
}

static u32 waitprof_unwind_from(unsigned long *slot, struct pt_regs *regs,
				unsigned long ip, enum waitprof_learn learn)
{
	struct waitprof_unwind u;

	if (regs ? waitprof_unwind_regs(&u, ip, regs) :
		   waitprof_unwind_here(&u, slot))
		return waitprof_unwind_site(&u, learn);
	this_cpu_inc(waitprof_stats.failed);
	return WAITPROF_SITE_UNKNOWN;
}

/**
 * waitprof_site_miss() - find a site that the memo does not lead to
 * @slot: place of the first return address on the running task's stack
 * @regs: see waitprof_site()
 * @ip: see waitprof_site()
 *
 * Some 6,000 to 8,000 instructions, once for each new return address.
 *
 * Context: any with preemption off; the run-queue lock may be held.
 * Return: number of the site.
 */
noinline u32 waitprof_site_miss(unsigned long *slot, struct pt_regs *regs,
				unsigned long ip)
{
	this_cpu_inc(waitprof_stats.misses);
	return waitprof_unwind_from(slot, regs, ip,
				    regs ? WAITPROF_LEARN_MEMO :
					   WAITPROF_LEARN_SHORTCUT);
}

/**
 * waitprof_site_check() - compare the memo's answer with the unwinder's
 * @site: the memo's answer
 * @slot: see waitprof_site()
 * @regs: see waitprof_site()
 * @ip: see waitprof_site()
 *
 * Context: any with preemption off; the run-queue lock may be held.
 * Return: the unwinder's answer.
 */
noinline u32 waitprof_site_check(u32 site, unsigned long *slot,
				 struct pt_regs *regs, unsigned long ip)
{
	u32 truth = waitprof_unwind_from(slot, regs, ip,
					 WAITPROF_LEARN_NOTHING);

	this_cpu_inc(waitprof_stats.checked);
	if (truth != site)
		this_cpu_inc(waitprof_stats.wrong);
	return truth;
}

/**
 * waitprof_site_asleep() - the site where another task sleeps
 * @t: the task; its pi_lock is held and it is off its CPU
 *
 * Context: any with interrupts off.
 * Return: number of the site.
 */
u32 waitprof_site_asleep(struct task_struct *t)
{
	struct waitprof_unwind u;
	unsigned long *slot;
	u32 site;

	if (!waitprof_unwind_task(&u, t))
		return WAITPROF_SITE_UNKNOWN;
	slot = waitprof_unwind_slot(&u);
	site = slot ? waitprof_memo_walk(slot) : WAITPROF_SITE_NONE;
	if (site == WAITPROF_SITE_NONE)
		site = waitprof_unwind_site(&u, WAITPROF_LEARN_MEMO);
	return site;
}

/* Drop what the memo knows of a module, then the sites in it. */
static void waitprof_site_gone(struct module *mod, bool init_only)
{
	unsigned int i, way;

	while (test_and_set_bit_lock(0, &waitprof_memo_busy))
		cond_resched();
	for (i = 0; i < ARRAY_SIZE(waitprof_memo); i++) {
		for (way = 0; way < WAITPROF_MEMO_WAYS; way++) {
			unsigned long ra = waitprof_memo[i].ra[way];

			if (init_only ? within_module_init(ra, mod) :
					within_module(ra, mod))
				WRITE_ONCE(waitprof_memo[i].ra[way], 0);
		}
	}
	/* A probe may have matched an address and not yet read what it is. The
	 * way must not be used again, nor the site, before it has.
	 */
	synchronize_rcu();
	waitprof_table_retire(mod, init_only);
	clear_bit_unlock(0, &waitprof_memo_busy);
}

static int waitprof_module_event(struct notifier_block *nb, unsigned long event,
				 void *data)
{
	if (event == MODULE_STATE_GOING)
		waitprof_site_gone(data, false);
	else if (event == MODULE_STATE_LIVE)
		waitprof_site_gone(data, true);
	return NOTIFY_DONE;
}

static struct notifier_block waitprof_module_nb = {
	.notifier_call = waitprof_module_event,
};

/**
 * waitprof_site_stats() - what the memo is worth, summed over CPUs
 */
struct waitprof_site_stats waitprof_site_stats(void)
{
	struct waitprof_site_stats sum = {};
	int cpu;

	for_each_possible_cpu(cpu) {
		struct waitprof_site_stats *s =
			per_cpu_ptr(&waitprof_stats, cpu);

		sum.misses += READ_ONCE(s->misses);
		sum.full += READ_ONCE(s->full);
		sum.failed += READ_ONCE(s->failed);
		sum.checked += READ_ONCE(s->checked);
		sum.wrong += READ_ONCE(s->wrong);
	}
	return sum;
}

/**
 * waitprof_site_init() - watch for modules that go
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int waitprof_site_init(void)
{
	return register_module_notifier(&waitprof_module_nb);
}

/**
 * waitprof_site_exit() - no longer
 *
 * Context: process, may sleep.
 */
void waitprof_site_exit(void)
{
	unregister_module_notifier(&waitprof_module_nb);
}
