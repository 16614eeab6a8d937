// SPDX-License-Identifier: GPL-2.0
/* AGGREGATE: live objects. See live.h. */

#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>
#include "live.h"

/* Places tried for an object, one after another. */
#define WAITPROF_LIVE_TRIES	32u

/* Of a tag. */
#define WAITPROF_LIVE_TRACKER	GENMASK(3, 0)
#define WAITPROF_LIVE_EPOCH	4

/**
 * struct waitprof_live - a live object
 * @object: its address; claimed by compare-and-swap, 0 where the entry is free
 * @path: where it was allocated
 * @tag: the tracker, and the window in which it was allocated
 */
struct waitprof_live {
	unsigned long object;
	u32 path;
	u32 tag;
};

static struct waitprof_live *waitprof_live;
static u32 waitprof_live_bits;

static __always_inline struct waitprof_live *waitprof_live_at(unsigned long object,
							      u32 try)
{
	u32 i = hash_long(object, waitprof_live_bits) + try;

	return &waitprof_live[i & (BIT(waitprof_live_bits) - 1)];
}

/**
 * waitprof_live_insert() - an object was handed out
 * @object: its address
 * @tracker: place of its tracker
 * @path: where it was allocated
 * @epoch: number of the window
 *
 * Context: any with preemption off.
 * Return: whether there was room.
 */
bool waitprof_live_insert(unsigned long object, u32 tracker, u32 path,
			  u32 epoch)
{
	u32 tag = epoch << WAITPROF_LIVE_EPOCH | tracker, try;

	for (try = 0; try < WAITPROF_LIVE_TRIES; try++) {
		struct waitprof_live *l = waitprof_live_at(object, try);
		unsigned long old = READ_ONCE(l->object);

		/* Its own entry: the kprobe missed its last going. One behind
		 * a free place is not looked for. Another tracker may have the
		 * same object.
		 */
		if (old == object &&
		    (l->tag & WAITPROF_LIVE_TRACKER) != tracker)
			continue;
		if (old == object || (!old && !cmpxchg(&l->object, 0, object))) {
			l->path = path;
			l->tag = tag;
			return true;
		}
	}
	return false;
}

/**
 * waitprof_live_remove() - an object is taken back
 * @object: its address
 * @tracker: place of its tracker
 * @path: gets where it was allocated
 * @epoch: gets %WAITPROF_LIVE_EPOCHS of the number of the window
 *
 * Context: any with preemption off.
 * Return: whether it was there.
 */
bool waitprof_live_remove(unsigned long object, u32 tracker, u32 *path,
			  u32 *epoch)
{
	u32 try;

	for (try = 0; try < WAITPROF_LIVE_TRIES; try++) {
		struct waitprof_live *l = waitprof_live_at(object, try);

		if (READ_ONCE(l->object) != object ||
		    (l->tag & WAITPROF_LIVE_TRACKER) != tracker)
			continue;
		*path = l->path;
		*epoch = l->tag >> WAITPROF_LIVE_EPOCH;
		smp_store_release(&l->object, 0);	/* cmpxchg() above */
		return true;
	}
	return false;
}

/**
 * waitprof_live_forget() - the objects of a tracker are no longer followed
 * @tracker: its place
 *
 * Context: process, may sleep; no kprobe of the tracker is in place.
 */
void waitprof_live_forget(u32 tracker)
{
	u32 i;

	for (i = 0; waitprof_live && i < BIT(waitprof_live_bits); i++) {
		struct waitprof_live *l = &waitprof_live[i];

		if (l->object && (l->tag & WAITPROF_LIVE_TRACKER) == tracker)
			smp_store_release(&l->object, 0); /* as above */
		if (!(i % 4096))
			cond_resched();
	}
}

/**
 * waitprof_live_init() - get the memory
 * @objects: how many; rounded up to a power of two
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int waitprof_live_init(unsigned int objects)
{
	waitprof_live_bits = order_base_2(objects);
	waitprof_live = vzalloc(array_size(BIT(waitprof_live_bits),
					   sizeof(*waitprof_live)));
	return waitprof_live ? 0 : -ENOMEM;
}

/**
 * waitprof_live_exit() - give it back
 *
 * Context: process, when no probe runs any more.
 */
void waitprof_live_exit(void)
{
	vfree(waitprof_live);
}

/**
 * waitprof_live_bytes() - its memory
 */
u64 waitprof_live_bytes(void)
{
	return waitprof_live ? (u64)sizeof(*waitprof_live) <<
			       waitprof_live_bits : 0;
}
