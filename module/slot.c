// SPDX-License-Identifier: GPL-2.0
/* RECORD: slots. See slot.h. */

#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include "slot.h"

/* Places tried for a slot, all different. At 90 % of them taken, one wait in
 * 0.9^-256 = 5e11 finds none.
 */
#define WAITPROF_TRIES		256u

struct waitprof_slot *waitprof_slots;
unsigned int waitprof_slots_mask;

/* The most that a task ever had to try; who looks for one need not go further. */
static u32 waitprof_reach;

static u32 waitprof_tries(void)
{
	return min(WAITPROF_TRIES, waitprof_slots_mask + 1);
}

static void waitprof_reach_out(u32 try)
{
	u32 reach = READ_ONCE(waitprof_reach);

	while (reach < try && !try_cmpxchg(&waitprof_reach, &reach, try))
		;
}

/**
 * waitprof_claim_next() - find a slot for a task whose first choice is taken
 * @t: the task
 *
 * Context: interrupts are off; the run-queue lock may be held.
 * Return: the slot, now the task's; NULL if there is none.
 */
noinline struct waitprof_slot *waitprof_claim_next(struct task_struct *t)
{
	struct waitprof_slot *first = waitprof_place(t, 0);
	u32 try;

	/* Before the claim, so that there is no moment in which the task has a
	 * slot that is not looked for.
	 */
	atomic_inc(&first->displaced);
	for (try = 1; try < waitprof_tries(); try++) {
		struct waitprof_slot *s = waitprof_place(t, try);

		if (READ_ONCE(s->task))
			continue;
		waitprof_reach_out(try);
		if (!cmpxchg(&s->task, NULL, t)) {
			s->first = first;
			return s;
		}
	}
	atomic_dec(&first->displaced);
	return NULL;
}

/**
 * waitprof_find_next() - find the slot of a task, past its first choice
 * @t: the task
 *
 * Context: interrupts are off; the run-queue lock may be held.
 * Return: the slot, or NULL.
 */
noinline struct waitprof_slot *waitprof_find_next(struct task_struct *t)
{
	u32 try;

	for (try = 1; try <= READ_ONCE(waitprof_reach); try++) {
		struct waitprof_slot *s = waitprof_place(t, try);

		if (READ_ONCE(s->task) == t)
			return s;
	}
	return NULL;
}

/* Read a slot whose sequence number was @seq. Return: whether it still is. */
static bool waitprof_flight_read(struct waitprof_slot *s, u32 seq,
				 struct waitprof_flight *f)
{
	f->row = READ_ONCE(s->row);
	f->pid = READ_ONCE(s->pid);
	f->t0 = READ_ONCE(s->t0);
	/* After these, and what the caller read before. Pairs with
	 * waitprof_end().
	 */
	smp_rmb();
	return READ_ONCE(s->seq) == seq;
}

/**
 * waitprof_slot_seqs() - note which waits are in progress
 * @seqs: gets the sequence number of each slot
 *
 * Context: process, may sleep.
 */
void waitprof_slot_seqs(u32 *seqs)
{
	unsigned int i;

	for (i = 0; i <= waitprof_slots_mask; i++) {
		/* Pairs with waitprof_begin(). */
		seqs[i] = smp_load_acquire(&waitprof_slots[i].seq);
		if (!(i % 1024))
			cond_resched();
	}
}

/**
 * waitprof_slot_flights() - look at the waits that are still in progress
 * @seqs: from waitprof_slot_seqs()
 * @fn: called for each that was in progress then and is now
 * @data: for @fn
 *
 * Cells that were read in between hold none of these waits.
 *
 * Context: process, may sleep.
 * Return: how many waits ended in the meantime; the cells may hold them or not.
 */
u64 waitprof_slot_flights(const u32 *seqs, waitprof_flight_fn fn, void *data)
{
	u64 racing = 0;
	unsigned int i;

	for (i = 0; i <= waitprof_slots_mask; i++) {
		struct waitprof_flight f;

		if (!(i % 1024))
			cond_resched();
		if (!(seqs[i] & 1))
			continue;
		if (waitprof_flight_read(&waitprof_slots[i], seqs[i], &f))
			fn(&f, data);
		else
			racing++;
	}
	return racing;
}

/**
 * waitprof_slot_close() - finish a window after waitprof_cells_swap()
 * @now: when it ended
 * @epoch: number of the new window
 * @fn: called for each wait that began before and is still in progress
 * @data: for @fn
 *
 * Afterwards nobody writes the spare cells any more. The part before @now of
 * each wait that straddles it was either given to @fn, or stands in the spare
 * cells as cut: the epoch in its slot, changed once by compare-and-swap,
 * decides which.
 *
 * Context: process, may sleep; after waitprof_cells_swap().
 */
void waitprof_slot_close(u64 now, u32 epoch, waitprof_flight_fn fn, void *data)
{
	unsigned int i;

	/* From here on all probes see the new window. */
	synchronize_rcu();
	for (i = 0; i <= waitprof_slots_mask; i++) {
		struct waitprof_slot *s = &waitprof_slots[i];
		struct waitprof_flight f;
		u32 seq = smp_load_acquire(&s->seq);	/* waitprof_begin() */

		if (!(i % 1024))
			cond_resched();
		if (!(seq & 1) || !waitprof_flight_read(s, seq, &f))
			continue;
		if (cmpxchg(&s->epoch, epoch - 1, epoch) != epoch - 1)
			continue;
		if (fn && f.t0 < now)
			fn(&f, data);
	}
	/* And here all those that had changed an epoch have added its part. */
	synchronize_rcu();
}

/**
 * waitprof_slot_cut() - end all waits in progress uncounted
 * @now: when
 * @start: when the window began
 * @cut: their number is added here
 * @cut_ns: and their time within the window here
 *
 * Context: process, may sleep; no probe runs.
 */
void waitprof_slot_cut(u64 now, u64 start, u64 *cut, u64 *cut_ns)
{
	unsigned int i;

	for (i = 0; i <= waitprof_slots_mask; i++) {
		struct waitprof_slot *s = &waitprof_slots[i];

		if (s->task) {
			*cut += 1;
			*cut_ns += now - min(now, max(s->t0, start));
		}
		memset(s, 0, sizeof(*s));
		if (!(i % 1024))
			cond_resched();
	}
}

/**
 * waitprof_slot_init() - get the memory for slots
 * @slots: how many; 0: by the memory of the machine
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM, then nothing is left.
 */
int waitprof_slot_init(unsigned int slots)
{
	/* One for 64 KiB of memory. A thread takes some 26 KiB of the kernel's,
	 * so a machine full of threads can do with slots= twice as large.
	 */
	if (!slots)
		slots = clamp_t(unsigned long,
				totalram_pages() / (SZ_64K / PAGE_SIZE),
				1024, WAITPROF_SLOTS_AUTO);
	slots = roundup_pow_of_two(slots);
	waitprof_slots = vzalloc(array_size(slots, sizeof(*waitprof_slots)));
	if (!waitprof_slots)
		return -ENOMEM;
	waitprof_slots_mask = slots - 1;
	return 0;
}

/**
 * waitprof_slot_exit() - give it back
 *
 * Context: process, when no probe runs any more.
 */
void waitprof_slot_exit(void)
{
	vfree(waitprof_slots);
}

/**
 * waitprof_slot_count() - how many slots there are
 */
unsigned int waitprof_slot_count(void)
{
	return waitprof_slots_mask + 1;
}

/**
 * waitprof_slot_bytes() - their memory
 */
u64 waitprof_slot_bytes(void)
{
	return (u64)waitprof_slot_count() * sizeof(*waitprof_slots);
}
