/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RECORD: a slot for each wait in progress.
 *
 * A slot lives exactly while its task is blocked, so it cannot outlive it. The
 * two ends of a wait run on two CPUs; that the second sees what the first
 * wrote rides on the scheduler's own ordering: a task is not run elsewhere
 * before its on_cpu was released (finish_task()) and acquired (the waker).
 *
 * Whoever looks at a slot from outside goes by its sequence number: odd while
 * the task is blocked, and another number for each wait.
 */
#ifndef _WAITPROF_SLOT_H
#define _WAITPROF_SLOT_H

#include <linux/atomic.h>
#include <asm/byteorder.h>
#include <linux/hash.h>
#include <linux/sched.h>
#include <linux/types.h>

#define WAITPROF_SLOTS_MIN	64u
#define WAITPROF_SLOTS_AUTO	65536u	/* what memory decides, at most: 4 MiB */
#define WAITPROF_SLOTS_MAX	4194304u	/* as many as there are pids */

/**
 * struct waitprof_slot - a wait in progress
 * @task: whose it is; claimed by compare-and-swap
 * @t0: when it began, ns of waitprof_clock()
 * @run_delay: the task's sched_info.run_delay at that time
 * @seq: odd while the wait is in progress
 * @method: site of the poll method of the file that ended it, 0 if none did yet
 * @word: the two at once, for whoever is not its task
 * @row: where it will be counted
 * @epoch: number of the last window that has counted a part of it
 * @pid: of the task, in the initial namespace
 * @displaced: how many tasks whose first choice is this slot are elsewhere
 * @first: the first choice of the task that has it, if that is another
 */
struct waitprof_slot {
	struct task_struct *task;
	u64 t0;
	u64 run_delay;
	union {
		struct {
#ifdef __LITTLE_ENDIAN
			u32 seq;
			u32 method;
#else
			u32 method;
			u32 seq;
#endif
		};
		u64 word;
	};
	u32 row;
	u32 epoch;
	pid_t pid;
	atomic_t displaced;
	struct waitprof_slot *first;
} __aligned(64);

/**
 * struct waitprof_flight - a wait in progress, as a reader sees it
 * @row: where it will be counted
 * @pid: of the task
 * @t0: when it began, ns of waitprof_clock()
 */
struct waitprof_flight {
	u32 row;
	pid_t pid;
	u64 t0;
};

/* Called for a wait in progress. */
typedef void (*waitprof_flight_fn)(const struct waitprof_flight *f, void *data);

extern struct waitprof_slot *waitprof_slots;
extern unsigned int waitprof_slots_mask;

struct waitprof_slot *waitprof_claim_next(struct task_struct *t);
struct waitprof_slot *waitprof_find_next(struct task_struct *t);

/* The order in which places are tried: all, once each, since the number of
 * slots is a power of two and the step is odd. By the task and not by its pid,
 * which another thread's execve() can change while it sleeps.
 */
static __always_inline struct waitprof_slot *
waitprof_place(struct task_struct *t, u32 try)
{
	u64 hash = (unsigned long)t * GOLDEN_RATIO_32;
	u32 first = hash >> 32, step = (hash >> 16) | 1;

	return &waitprof_slots[(first + try * step) & waitprof_slots_mask];
}

static __always_inline struct waitprof_slot *
waitprof_slot_find(struct task_struct *t)
{
	struct waitprof_slot *s = waitprof_place(t, 0);

	if (likely(READ_ONCE(s->task) == t))
		return s;
	if (likely(!atomic_read(&s->displaced)))
		return NULL;
	return waitprof_find_next(t);
}

static __always_inline void waitprof_slot_free(struct waitprof_slot *s)
{
	struct waitprof_slot *first = s->first;

	if (likely(!first)) {
		smp_store_release(&s->task, NULL);	/* waitprof_begin() */
		return;
	}
	s->first = NULL;
	smp_store_release(&s->task, NULL);		/* the same */
	atomic_dec(&first->displaced);
}

/**
 * waitprof_slot_asleep() - the wait in progress of a task
 * @t: the task, which stays
 * @seq: gets the sequence number of the wait
 *
 * Context: any with preemption off.
 * Return: its slot, which holds this wait as long as it has that number; NULL if
 *	the task is not blocked.
 */
static __always_inline struct waitprof_slot *
waitprof_slot_asleep(struct task_struct *t, u32 *seq)
{
	struct waitprof_slot *s = waitprof_slot_find(t);

	if (!s)
		return NULL;
	*seq = smp_load_acquire(&s->seq);	/* waitprof_begin() */
	/* It may be another's since it was found. */
	return *seq & 1 && READ_ONCE(s->task) == t ? s : NULL;
}

/**
 * waitprof_slot_ended() - remember what ends a wait, if nothing else did before
 * @s: its slot
 * @seq: its sequence number
 * @method: site of the poll method
 *
 * Context: any. That the end of the wait sees it rides on the wake-up, which
 * comes after.
 */
static __always_inline void waitprof_slot_ended(struct waitprof_slot *s,
						u32 seq, u32 method)
{
	struct waitprof_slot old = { .seq = seq }, new = { .seq = seq };

	new.method = method;
	cmpxchg64(&s->word, old.word, new.word);
}

int waitprof_slot_init(unsigned int slots);
void waitprof_slot_exit(void);
u64 waitprof_slot_bytes(void);
unsigned int waitprof_slot_count(void);

void waitprof_slot_seqs(u32 *seqs);
u64 waitprof_slot_flights(const u32 *seqs, waitprof_flight_fn fn, void *data);
void waitprof_slot_close(u64 now, u32 epoch, waitprof_flight_fn fn, void *data);
void waitprof_slot_cut(u64 now, u64 start, u64 *cut, u64 *cut_ns);

#endif /* _WAITPROF_SLOT_H */
