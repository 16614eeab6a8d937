/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AGGREGATE: which frame of a stack is the call site.
 *
 * For a return address the distance on the stack to the next one is a
 * constant of the function it lies in. So the stack is walked by a memo,
 *
 *	return address -> {distance to the next, or: this is the site}
 *
 * and only where the memo does not know an address does the kernel's unwinder
 * walk, whose result is then learnt. A function that aligns its stack has two
 * distances, X and X + 8. If the smaller is wrong, the word found there is the
 * saved frame pointer, while a word too far up could be an old return address:
 * so the smaller is taken if the word is an address of code, known or not.
 *
 * Where the frames on a stack are linked (arm64), a distance is a number of links,
 * so it is 1.
 *
 * An entry, once written, keeps its address until its module goes; so a reader
 * needs no lock. Address 0 marks an empty entry and is never looked up.
 */
#ifndef _WAITPROF_SITE_H
#define _WAITPROF_SITE_H

#include <linux/bits.h>
#include <linux/cache.h>
#include <linux/hash.h>
#include <linux/jump_label.h>
#include <linux/percpu.h>
#include <linux/sched/task_stack.h>
#include <linux/types.h>
#include "compat/unwind.h"
#include "table.h"

/* Room for some 16,000 return addresses, which is 256 KiB. */
#define WAITPROF_MEMO_WAYS	4
#define WAITPROF_MEMO_BITS	12
#define WAITPROF_SITE_NONE	0u

/* What the memo says of a return address, one word:
 * bits 0 to 31		number of its site, 0 if that was not asked for
 * bits 32 to 45	distance to the next return address in words, 0 if unknown
 * bits 46 to 59	another, larger one, or 0
 * bit 60		the function aligns its stack, so there may be another one
 * bit 61		a call path ends here
 * bit 62		it has more distances than two
 * bit 63		a call site: here the search for one ends
 */
#define WAITPROF_MEMO_LO	32
#define WAITPROF_MEMO_HI	46
#define WAITPROF_MEMO_DISTANCE	GENMASK_ULL(13, 0)
#define WAITPROF_MEMO_DISTANCES	GENMASK_ULL(59, 32)
#define WAITPROF_MEMO_ALIGN	BIT_ULL(60)
#define WAITPROF_MEMO_END	BIT_ULL(61)
#define WAITPROF_MEMO_NEVER	BIT_ULL(62)
#define WAITPROF_MEMO_SITE	BIT_ULL(63)
/* Not a caller, but what a return probe puts in its place. */
#define WAITPROF_MEMO_HOOKED	(WAITPROF_MEMO_NEVER | WAITPROF_MEMO_END)

/**
 * struct waitprof_memo - a set of the memo, one cache line
 * @ra: return addresses; 0 where the way is free
 * @what: for each, see WAITPROF_MEMO_LO
 */
struct waitprof_memo {
	unsigned long ra[WAITPROF_MEMO_WAYS];
	u64 what[WAITPROF_MEMO_WAYS];
} ____cacheline_aligned;

/* Ways from a caller of __schedule() to the switch probe. There are six: from
 * schedule(), rt_mutex_schedule() and schedule_rtlock(), each with and without
 * other listeners to sched_switch.
 * The first shortcut is the one that nearly every sleep takes: by schedule(), and
 * nobody else listens.
 */
#define WAITPROF_SHORTCUTS	8

/**
 * struct waitprof_shortcut - the frames that begin a sleep
 * @ra0: return address of the switch probe; 0: not known
 * @ra1: return address of __schedule()
 * @d1: distance between the two
 * @d: distance from the first to the return address of the caller of
 *	__schedule()
 *
 * Two comparisons in place of two look-ups or three.
 */
struct waitprof_shortcut {
	unsigned long ra0, ra1;
	u32 d1, d;
};

/**
 * struct waitprof_site_stats - what the memo is worth, per CPU
 * @misses: walks that the unwinder had to make
 * @full: addresses that found no room in the memo
 * @failed: walks that the unwinder could not make
 * @checked: walks compared with the unwinder (check=1)
 * @wrong: those of them that gave another site
 */
struct waitprof_site_stats {
	u64 misses, full, failed, checked, wrong;
};

extern struct waitprof_memo waitprof_memo[1 << WAITPROF_MEMO_BITS];
extern u32 waitprof_memo_turns;
extern struct waitprof_shortcut waitprof_shortcuts[WAITPROF_SHORTCUTS];
DECLARE_STATIC_KEY_FALSE(waitprof_check);

u32 waitprof_site_miss(unsigned long *slot, struct pt_regs *regs,
		       unsigned long ip);
u32 waitprof_site_check(u32 site, unsigned long *slot, struct pt_regs *regs,
			unsigned long ip);
unsigned long *waitprof_past_others(unsigned long *slot);

/**
 * waitprof_memo_what() - look an address up
 * @ra: the return address
 *
 * Return: see struct waitprof_memo; 0 if it is not known.
 */
static __always_inline u64 waitprof_memo_what(unsigned long ra)
{
	struct waitprof_memo *set =
		&waitprof_memo[hash_long(ra, WAITPROF_MEMO_BITS)];
	int i;

	/* Acquire: pairs with the release in waitprof_memo_learn(). */
	if (likely(smp_load_acquire(&set->ra[0]) == ra && ra))
		return READ_ONCE(set->what[0]);
	for (i = 1; ra && i < WAITPROF_MEMO_WAYS; i++)
		/* the same */
		if (smp_load_acquire(&set->ra[i]) == ra)
			return READ_ONCE(set->what[i]);
	return 0;
}

/* Both on one stack? Its size is a power of two, and it is aligned to that. */
static __always_inline bool waitprof_same_stack(unsigned long *a,
						unsigned long *b)
{
	return !(((unsigned long)a ^ (unsigned long)b) & ~(THREAD_SIZE - 1));
}

u32 waitprof_memo_walk_both(unsigned long *slot);

/**
 * waitprof_memo_walk() - find the site by the memo alone
 * @slot: place of the first return address, on the running task's stack
 *
 * Context: any with preemption off.
 * Return: number of the site; %WAITPROF_SITE_NONE if the memo does not lead
 *	to one.
 */
static __always_inline u32 waitprof_memo_walk(unsigned long *slot)
{
	unsigned long *p = slot;
	u64 what;

	for (;;) {
		what = waitprof_memo_what(waitprof_ra(p));
		if (likely((s64)what < 0))
			return what;
		what >>= WAITPROF_MEMO_LO;
		/* Not known, or two distances. */
		if (unlikely(what - 1 >= WAITPROF_MEMO_DISTANCE))
			return what ? waitprof_memo_walk_both(p) :
				      WAITPROF_SITE_NONE;
		p = waitprof_up(p, what);
		if (unlikely(!waitprof_same_stack(p, slot)))
			return WAITPROF_SITE_NONE;
	}
}

/**
 * waitprof_site() - the site of the running task's coming sleep
 * @slot: place of a return address on its stack
 * @regs: the registers at the entry of the function that will return there,
 *	if it was just entered; else NULL
 * @ip: where its entry is
 *
 * Context: any with preemption off; the run-queue lock may be held.
 */
static __always_inline u32 waitprof_site(unsigned long *slot,
					 struct pt_regs *regs, unsigned long ip)
{
	u32 site = waitprof_memo_walk(slot);

	if (unlikely(site == WAITPROF_SITE_NONE))
		return waitprof_site_miss(slot, regs, ip);
	if (static_branch_unlikely(&waitprof_check))
		site = waitprof_site_check(site, slot, regs, ip);
	return site;
}

/**
 * waitprof_shortcut_end() - pass the frames that begin a sleep
 * @s: the shortcut
 * @slot: that of the switch probe's return address
 *
 * Return: slot of the return address of the caller of __schedule(); NULL if the
 *	frames are others.
 */
static __always_inline unsigned long *
waitprof_shortcut_end(const struct waitprof_shortcut *s, unsigned long *slot)
{
	/* Pairs with waitprof_shortcut_keep(). */
	if (likely(smp_load_acquire(&s->ra0) == waitprof_ra(slot) &&
		   waitprof_ra_up(slot, s->d1) == s->ra1))
		return waitprof_up(slot, s->d);
	return NULL;
}

/**
 * waitprof_past_schedule() - skip the frames that begin a sleep
 * @slot: place of the switch probe's return address
 *
 * Context: the sched_switch probe.
 * Return: place of the return address of schedule(), or of who else called
 *	__schedule(); NULL if that cannot be told.
 */
static __always_inline unsigned long *
waitprof_past_schedule(unsigned long *slot)
{
	return waitprof_shortcut_end(&waitprof_shortcuts[0], slot) ?:
	       waitprof_past_others(slot);
}

/**
 * struct waitprof_frame - a frame of a call path
 * @ra: its return address
 * @slot: the place of that on the stack
 * @site: the site with that address
 */
struct waitprof_frame {
	unsigned long ra;
	unsigned long *slot;
	u32 site;
};

u32 waitprof_site_asleep(struct task_struct *t);
u32 waitprof_site_at(unsigned long addr);
u32 waitprof_site_frames(struct pt_regs *regs, unsigned long ip, u32 depth,
			 struct waitprof_frame *frames, bool *fixed);
int waitprof_site_init(void);
void waitprof_site_exit(void);
struct waitprof_site_stats waitprof_site_stats(void);

#endif /* _WAITPROF_SITE_H */
