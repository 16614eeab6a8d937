// SPDX-License-Identifier: GPL-2.0
/* AGGREGATE: which frame is the call site. See site.h. */

#include <linux/bitops.h>
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/mutex.h>
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
struct waitprof_shortcut waitprof_shortcuts[WAITPROF_SHORTCUTS];
/* How often something that the memo had said did not hold any more. */
u32 waitprof_memo_turns;
DEFINE_STATIC_KEY_FALSE(waitprof_check);

/* Who sets bit 0 may write to the memo. A probe that finds it set does without
 * learning; only process context waits for it.
 */
static unsigned long waitprof_memo_busy;
/* Modules that go are dealt with one at a time. */
static DEFINE_MUTEX(waitprof_gone_lock);

/* No instruction lies there. A way with this address is not free, though. */
#define WAITPROF_MEMO_RESERVED	1ul

static DEFINE_PER_CPU(struct waitprof_site_stats, waitprof_stats);
static DEFINE_PER_CPU(char[KSYM_SYMBOL_LEN], waitprof_symbol);
/* The unwinder is at work on this CPU. */
static DEFINE_PER_CPU(bool, waitprof_unwinding);

enum waitprof_sort {
	WAITPROF_SORT_SITE,
	WAITPROF_SORT_PRIMITIVE,
	WAITPROF_SORT_GENERATED,	/* code made at run time, may move */
};

/* A tracer's own code that a function will return to in place of its caller.
 * Where the unwinder cannot tell the caller (return probes before 5.15), it is
 * passed over.
 */
static bool waitprof_trampoline(const char *symbol)
{
	static const char * const trampolines[] = {
		"kretprobe_trampoline", "__kretprobe_trampoline",
		"arch_rethook_trampoline", "return_to_handler",
	};

	return match_string(trampolines, ARRAY_SIZE(trampolines), symbol) >= 0;
}

/* Here the kernel is entered. Some of these move their stack by a random
 * distance (randomize_kstack_offset, since 5.13), and nothing above them tells
 * more.
 */
static bool waitprof_entry(const char *symbol)
{
	static const char * const entries[] = {
		"do_syscall_64", "do_int80_syscall_32", "__do_fast_syscall_32",
		"do_int80_emulation", "invoke_syscall", "el0_svc_common",
		"el0t_64_sync", "el0t_32_sync", "el1h_64_sync", "el1h_64_irq",
	};

	return match_string(entries, ARRAY_SIZE(entries), symbol) >= 0;
}

static enum waitprof_sort waitprof_classify(unsigned long ra, char *symbol)
{
	char *module;

	sprint_symbol_no_offset(symbol, ra);
	if (waitprof_trampoline(symbol))
		return WAITPROF_SORT_GENERATED;
	/* A call may be the last instruction of its function. */
	sprint_symbol_no_offset(symbol, ra - 1);
	module = strchr(symbol, '[');
	if (module && (!strcmp(module, "[bpf]") ||
		       !strncmp(module, "[__builtin__", 12)))
		return WAITPROF_SORT_GENERATED;
	return waitprof_primitive(symbol) ? WAITPROF_SORT_PRIMITIVE :
					    WAITPROF_SORT_SITE;
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
 * @what: what is known of it
 * @bp: the frame pointer register, which tells that the function aligns its
 *	stack: nothing else uses it so
 */
static u64 waitprof_memo_distance(u64 what, unsigned long *slot,
				  unsigned long *next, unsigned long *bp)
{
	u64 d = waitprof_distance(slot, next);
	u64 lo = what >> WAITPROF_MEMO_LO & WAITPROF_MEMO_DISTANCE;
	u64 hi = what >> WAITPROF_MEMO_HI & WAITPROF_MEMO_DISTANCE;

	if (what & WAITPROF_MEMO_NEVER || d == lo || d == hi)
		return what;
	what &= ~WAITPROF_MEMO_DISTANCES;
	if (next <= slot || d >= WAITPROF_MEMO_DISTANCE)
		return what | WAITPROF_MEMO_NEVER;
	if (!lo && bp + 1 == next)
		what |= WAITPROF_MEMO_ALIGN;
	if (!lo)
		return what | d << WAITPROF_MEMO_LO;
	/* The two have to be neighbours. */
	if (hi || (lo != d + 1 && d != lo + 1))
		return what | WAITPROF_MEMO_NEVER;
	return what | WAITPROF_MEMO_ALIGN | min(lo, d) << WAITPROF_MEMO_LO |
	       max(lo, d) << WAITPROF_MEMO_HI;
}

/* What is seen of a frame: where it returns to, and of the frame above it. */
struct waitprof_seen {
	unsigned long ra;
	unsigned long *slot;
	unsigned long *bp;
};

/* Those who remember more than one frame have to look again. */
static bool waitprof_memo_turned(u64 old, u64 new)
{
	return old & WAITPROF_MEMO_DISTANCES && old != new;
}

/* Learn what @f is, a site or none, if it has a number; and its distance to
 * @next, if that is not NULL.
 */
static void waitprof_memo_learn(const struct waitprof_seen *f, u64 site,
				unsigned long *next)
{
	u64 *way, what;

	if (test_and_set_bit_lock(0, &waitprof_memo_busy))
		return;
	way = waitprof_memo_way(f->ra);
	if (way) {
		what = *way;
		if (!(u32)what)
			what |= site;
		what |= site & WAITPROF_MEMO_END;
		if (next)
			what = waitprof_memo_distance(what, f->slot, next,
						      f->bp);
		if (waitprof_memo_turned(*way, what))
			WRITE_ONCE(waitprof_memo_turns,
				   waitprof_memo_turns + 1);
		WRITE_ONCE(*way, what);
	} else {
		this_cpu_inc(waitprof_stats.full);
	}
	clear_bit_unlock(0, &waitprof_memo_busy);
}

/**
 * waitprof_memo_next() - the place of the next return address
 * @p: place of a return address
 * @what: what the memo says of it
 *
 * Context: any with preemption off; the stack is the running task's, or that
 *	of a task that stays asleep.
 * Return: the place; NULL if the memo cannot tell.
 */
static unsigned long *waitprof_memo_next(unsigned long *p, u64 what)
{
	u64 lo = what >> WAITPROF_MEMO_LO & WAITPROF_MEMO_DISTANCE;
	u64 hi = what >> WAITPROF_MEMO_HI & WAITPROF_MEMO_DISTANCE;

	if (!lo || what & WAITPROF_MEMO_NEVER ||
	    !waitprof_same_stack(p + max(lo, hi), p))
		return NULL;
	/* Where there are two, the word at the smaller is a saved frame
	 * pointer, or the next return address, which need not be known yet.
	 */
	if (hi)
		return waitprof_unwind_text(READ_ONCE_NOCHECK(p[lo])) ?
		       p + lo : p + hi;
	/* One is known of two: below the return address lies the saved frame
	 * pointer. If it lies elsewhere, here is the frame pointer, or below
	 * is the return address.
	 */
	if (what & WAITPROF_MEMO_ALIGN &&
	    (!waitprof_unwind_text(READ_ONCE_NOCHECK(p[lo])) ||
	     waitprof_unwind_text(READ_ONCE_NOCHECK(p[lo - 1]))))
		return NULL;
	return waitprof_up(p, lo);
}

/* The frame's return address lies behind the trampoline of a return probe. */
static void waitprof_memo_learn_hooked(const struct waitprof_seen *f)
{
	struct waitprof_seen hook = { .ra = waitprof_ra(f->slot) };

	if (hook.ra != f->ra && waitprof_hidden_ra(f->slot) == f->ra)
		waitprof_memo_learn(&hook, WAITPROF_MEMO_HOOKED, NULL);
}

/* What the memo says of a return address, which may be hidden by a return probe.
 * @ra: gets the address
 */
static u64 waitprof_memo_look(unsigned long *slot, unsigned long *ra)
{
	u64 what;

	*ra = waitprof_ra(slot);
	what = waitprof_memo_what(*ra);
	if (what != WAITPROF_MEMO_HOOKED)
		return what;
	*ra = waitprof_hidden_ra(slot);
	return waitprof_memo_what(*ra);
}

/**
 * waitprof_memo_walk_both() - waitprof_memo_walk() where there are two distances,
 * or a return probe
 * @slot: place of a return address, on the stack of a task that stays there
 *
 * Context: any with preemption off.
 * Return: see waitprof_memo_walk().
 */
noinline u32 waitprof_memo_walk_both(unsigned long *slot)
{
	while (slot) {
		unsigned long ra;
		u64 what = waitprof_memo_look(slot, &ra);

		if (what & WAITPROF_MEMO_SITE)
			return what;
		slot = waitprof_memo_next(slot, what);
	}
	return WAITPROF_SITE_NONE;
}

/* Functions that the unwinding itself calls may be tracked, and interrupts may
 * bring in others: one unwinding on a CPU at a time, since they share a buffer.
 */
static bool waitprof_unwind_begin(unsigned long *flags)
{
	local_irq_save(*flags);
	if (likely(!this_cpu_read(waitprof_unwinding))) {
		this_cpu_write(waitprof_unwinding, true);
		return true;
	}
	this_cpu_inc(waitprof_stats.failed);
	local_irq_restore(*flags);
	return false;
}

static void waitprof_unwind_end(unsigned long flags)
{
	this_cpu_write(waitprof_unwinding, false);
	local_irq_restore(flags);
}

/* What the switch probe lies under, up to the caller of __schedule(). */
static bool waitprof_inner(const char *symbol)
{
	static const char * const inner[] = {
		"__schedule", "__schedule_loop", "__traceiter_sched_switch",
	};

	return match_string(inner, ARRAY_SIZE(inner), symbol) >= 0;
}

/* Find the frames that begin the running task's sleep with the unwinder. @common:
 * are they those that begin nearly every one? Return: whether it is sure.
 */
static bool waitprof_shortcut_read(struct waitprof_shortcut *s,
				   unsigned long *slot, bool *common)
{
	char *symbol = *this_cpu_ptr(&waitprof_symbol);
	unsigned int inner = 0;
	struct waitprof_unwind u;
	unsigned long *up;

	s->ra0 = waitprof_ra(slot);
	s->d = 0;
	if (!waitprof_unwind_here(&u, slot) || waitprof_unwind_ra(&u) != s->ra0)
		return false;
	for (;;) {
		s->d1 = s->d;
		s->ra1 = waitprof_unwind_ra(&u);
		waitprof_classify(s->ra1, symbol);
		waitprof_unwind_next(&u);
		up = waitprof_unwind_slot(&u);
		if (!up || !waitprof_unwind_sure(&u))
			return false;
		s->d += waitprof_distance(slot, up);
		slot = up;
		if (!waitprof_inner(symbol))
			break;
		inner++;
	}
	*common = inner == 1 && !strcmp(symbol, "schedule");
	return inner;
}

/* Where the shortcut that fits at @slot leads; NULL if none does. */
static unsigned long *waitprof_shortcut_find(unsigned long *slot)
{
	const struct waitprof_shortcut *s = waitprof_shortcuts;
	unsigned long *end = NULL;

	for (; s < waitprof_shortcuts + WAITPROF_SHORTCUTS && !end; s++)
		end = waitprof_shortcut_end(s, slot);
	return end;
}

/* Keep what was read at @slot, if there is room and nobody else is at it. */
static void waitprof_shortcut_keep(const struct waitprof_shortcut *new,
				   unsigned long *slot, bool common)
{
	struct waitprof_shortcut *s = &waitprof_shortcuts[!common];

	if (test_and_set_bit_lock(0, &waitprof_memo_busy))
		return;
	while (s->ra0 && s < &waitprof_shortcuts[WAITPROF_SHORTCUTS - 1])
		s++;
	/* Another CPU may have come first. */
	if (!s->ra0 && !waitprof_shortcut_find(slot)) {
		s->ra1 = new->ra1;
		s->d1 = new->d1;
		s->d = new->d;
		/* Pairs with waitprof_shortcut_end(). */
		smp_store_release(&s->ra0, new->ra0);
	}
	clear_bit_unlock(0, &waitprof_memo_busy);
}

/**
 * waitprof_past_others() - waitprof_past_schedule() where it is not the usual
 * way, or not known yet
 * @slot: place of the switch probe's return address
 *
 * Context: the sched_switch probe.
 * Return: see waitprof_past_schedule().
 */
noinline unsigned long *waitprof_past_others(unsigned long *slot)
{
	unsigned long *end = waitprof_shortcut_find(slot);
	struct waitprof_shortcut new;
	unsigned long flags;
	bool common, sure;

	if (end)
		return end;
	this_cpu_inc(waitprof_stats.misses);
	if (!waitprof_unwind_begin(&flags))
		return NULL;
	sure = waitprof_shortcut_read(&new, slot, &common);
	waitprof_unwind_end(flags);
	/* A tracer may hide an address that the unwinder has found. */
	end = sure ? waitprof_shortcut_end(&new, slot) : NULL;
	if (end)
		waitprof_shortcut_keep(&new, slot, common);
	return end;
}

/* Find the site with the kernel's unwinder, which has been started. @learn: the
 * memo keeps what it sees.
 */
static u32 waitprof_unwind_site(struct waitprof_unwind *u, bool learn)
{
	char *symbol = *this_cpu_ptr(&waitprof_symbol);
	struct waitprof_seen before = {};
	int i;

	for (i = 0; i < WAITPROF_DEPTH; i++, waitprof_unwind_next(u)) {
		struct waitprof_seen f = { .ra = waitprof_unwind_ra(u) };
		bool sure = learn && waitprof_unwind_sure(u);
		enum waitprof_sort sort;

		if (!f.ra)
			break;
		f.slot = waitprof_unwind_slot(u);
		f.bp = f.slot ? waitprof_unwind_bp(u) : NULL;
		if (sure && f.slot)
			waitprof_memo_learn_hooked(&f);
		if (sure && before.slot && f.slot)
			waitprof_memo_learn(&before, 0, f.slot);

		sort = waitprof_classify(f.ra, symbol);
		if (sort == WAITPROF_SORT_SITE) {
			u32 site = waitprof_site_get(f.ra);

			if (sure)
				waitprof_memo_learn(&f, WAITPROF_MEMO_SITE |
						    site, NULL);
			return site;
		}
		before = f;
		if (sort == WAITPROF_SORT_GENERATED)
			before.slot = NULL;
	}
	this_cpu_inc(waitprof_stats.failed);
	return WAITPROF_SITE_UNKNOWN;
}

static u32 waitprof_unwind_from(unsigned long *slot, struct pt_regs *regs,
				unsigned long ip, bool learn)
{
	u32 site = WAITPROF_SITE_UNKNOWN;
	struct waitprof_unwind u;
	unsigned long flags;

	if (!waitprof_unwind_begin(&flags))
		return site;
	if (regs ? waitprof_unwind_regs(&u, ip, regs) :
		   waitprof_unwind_here(&u, slot))
		site = waitprof_unwind_site(&u, learn);
	else
		this_cpu_inc(waitprof_stats.failed);
	waitprof_unwind_end(flags);
	return site;
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
	return waitprof_unwind_from(slot, regs, ip, true);
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
	u32 truth = waitprof_unwind_from(slot, regs, ip, false);

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
	u32 site = WAITPROF_SITE_UNKNOWN;
	struct waitprof_unwind u;
	unsigned long *slot;
	unsigned long flags;

	if (!waitprof_unwind_begin(&flags))
		return site;
	if (waitprof_unwind_task(&u, t)) {
		slot = waitprof_unwind_slot(&u);
		site = slot ? waitprof_memo_walk(slot) : WAITPROF_SITE_NONE;
		if (site == WAITPROF_SITE_NONE)
			site = waitprof_unwind_site(&u, true);
	} else {
		this_cpu_inc(waitprof_stats.failed);
	}
	waitprof_unwind_end(flags);
	return site;
}

/**
 * waitprof_site_at() - the site of an address to which no stack leads
 * @addr: the address, as a return address would be
 *
 * Context: any with preemption off.
 * Return: number of the site.
 */
u32 waitprof_site_at(unsigned long addr)
{
	struct waitprof_seen f = { .ra = addr };
	u32 site = waitprof_memo_what(addr);

	if (likely(site))
		return site;
	site = waitprof_site_get(addr);
	waitprof_memo_learn(&f, WAITPROF_MEMO_SITE | site, NULL);
	return site;
}

/* A call path by the memo alone. Return: how many frames, 0 if the memo does not
 * know them all.
 */
static u32 waitprof_memo_frames(unsigned long *slot, u32 depth,
				struct waitprof_frame *frames, bool *fixed)
{
	u64 what;
	u32 n = 0;

	*fixed = waitprof_slots_fixed();
	while (slot) {
		unsigned long ra;

		what = waitprof_memo_look(slot, &ra);
		if (!(u32)what)
			return 0;
		if (ra != waitprof_ra(slot))
			*fixed = false;
		frames[n].ra = ra;
		frames[n].slot = slot;
		frames[n++].site = what;
		if (n == depth || what & WAITPROF_MEMO_END)
			return n;
		if (what & WAITPROF_MEMO_ALIGN)
			*fixed = false;
		slot = waitprof_memo_next(slot, what);
	}
	return 0;
}

/* A call path by the unwinder, which is learnt. */
static noinline u32 waitprof_unwind_frames(struct waitprof_unwind *u, u32 depth,
					   struct waitprof_frame *frames)
{
	char *symbol = *this_cpu_ptr(&waitprof_symbol);
	struct waitprof_seen before = {};
	u64 site = 0;
	u32 n = 0;

	for (; n < depth; waitprof_unwind_next(u)) {
		struct waitprof_seen f = { .ra = waitprof_unwind_ra(u) };
		bool sure = waitprof_unwind_sure(u);
		enum waitprof_sort sort;

		f.slot = waitprof_unwind_slot(u);
		/* Here the stack ends, or an interrupt came in. */
		if (!f.ra || !f.slot) {
			if (sure && before.slot)
				waitprof_memo_learn(&before, site |
						    WAITPROF_MEMO_END, NULL);
			return n;
		}
		f.bp = waitprof_unwind_bp(u);
		if (sure)
			waitprof_memo_learn_hooked(&f);
		if (sure && before.slot)
			waitprof_memo_learn(&before, site, f.slot);
		sort = waitprof_classify(f.ra, symbol);
		if (sort == WAITPROF_SORT_GENERATED) {
			before.slot = NULL;
			continue;
		}
		frames[n].ra = f.ra;
		frames[n].slot = f.slot;
		frames[n++].site = waitprof_site_get(f.ra);
		site = frames[n - 1].site;
		if (sort == WAITPROF_SORT_SITE)
			site |= WAITPROF_MEMO_SITE;
		before = f;
		if (waitprof_entry(symbol)) {
			site |= WAITPROF_MEMO_END;
			break;
		}
	}
	if (before.slot && waitprof_unwind_sure(u))
		waitprof_memo_learn(&before, site, NULL);
	return n;
}

/**
 * waitprof_site_frames() - the call path to a function
 * @regs: the registers at its entry
 * @ip: where its entry is
 * @depth: how many frames at most, 1 or more
 * @frames: gets them, innermost first
 * @fixed: gets whether the frames of this path always lie where they lie now,
 *	seen from the innermost
 *
 * A path ends where the stack ends, and where an interrupt came in.
 *
 * Context: a probe's handler, preemption is off.
 * Return: how many frames; 0 if the stack could not be read.
 */
u32 waitprof_site_frames(struct pt_regs *regs, unsigned long ip, u32 depth,
			 struct waitprof_frame *frames, bool *fixed)
{
	unsigned long *slot = waitprof_entry_slot(regs);
	u32 n = waitprof_memo_frames(slot, depth, frames, fixed);
	struct waitprof_unwind u;
	unsigned long flags;

	if (likely(n))
		return n;
	*fixed = false;
	this_cpu_inc(waitprof_stats.misses);
	if (!waitprof_unwind_begin(&flags))
		return 0;
	if (waitprof_unwind_regs(&u, ip, regs))
		n = waitprof_unwind_frames(&u, depth, frames);
	else
		this_cpu_inc(waitprof_stats.failed);
	waitprof_unwind_end(flags);
	return n;
}

/* Give the ways of the memo that @match another address. Return: how many. */
static unsigned int waitprof_memo_turn(bool (*match)(unsigned long ra,
						     struct module *mod),
				       struct module *mod, unsigned long ra)
{
	unsigned int i, way, n = 0;

	while (test_and_set_bit_lock(0, &waitprof_memo_busy))
		cond_resched();
	WRITE_ONCE(waitprof_memo_turns, waitprof_memo_turns + 1);
	for (i = 0; i < ARRAY_SIZE(waitprof_memo); i++) {
		struct waitprof_memo *set = &waitprof_memo[i];

		for (way = 0; way < WAITPROF_MEMO_WAYS; way++) {
			if (!set->ra[way] || !match(set->ra[way], mod))
				continue;
			WRITE_ONCE(set->what[way], 0);
			WRITE_ONCE(set->ra[way], ra);
			n++;
		}
	}
	clear_bit_unlock(0, &waitprof_memo_busy);
	return n;
}

static bool waitprof_match_going(unsigned long ra, struct module *mod)
{
	return within_module(ra, mod);
}

static bool waitprof_match_init(unsigned long ra, struct module *mod)
{
	return within_module_init(ra, mod);
}

static bool waitprof_match_reserved(unsigned long ra, struct module *mod)
{
	return ra == WAITPROF_MEMO_RESERVED;
}

/* Drop what the memo knows of a module, then the sites in it. Most modules that
 * come have slept nowhere, and need not wait for anybody.
 */
static void waitprof_site_gone(struct module *mod,
			       bool (*match)(unsigned long ra,
					     struct module *mod))
{
	mutex_lock(&waitprof_gone_lock);
	if (waitprof_memo_turn(match, mod, WAITPROF_MEMO_RESERVED) ||
	    waitprof_table_has(match, mod)) {
		/* A probe may have matched an address and not yet read what
		 * it is. The way must not be used again, nor the site, before
		 * it has.
		 */
		synchronize_rcu();
		waitprof_table_retire(match, mod);
		waitprof_memo_turn(waitprof_match_reserved, NULL, 0);
	}
	mutex_unlock(&waitprof_gone_lock);
}

static int waitprof_module_event(struct notifier_block *nb, unsigned long event,
				 void *data)
{
	if (event == MODULE_STATE_GOING)
		waitprof_site_gone(data, waitprof_match_going);
	else if (event == MODULE_STATE_LIVE)
		waitprof_site_gone(data, waitprof_match_init);
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
