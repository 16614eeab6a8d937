/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AGGREGATE: which objects are live, and where each was allocated (live=map).
 *
 * A preallocated table keyed by the address of the object. An object has its
 * entry before its allocating function returns, and loses it when the function
 * that takes it back is entered; in between nobody else looks at the entry.
 */
#ifndef _WAITPROF_LIVE_H
#define _WAITPROF_LIVE_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/hash.h>
#include <linux/types.h>

#define WAITPROF_OBJECTS_MIN		1024u
#define WAITPROF_OBJECTS_DEFAULT	131072u
#define WAITPROF_OBJECTS_MAX		16777216u

/* Windows are told apart by so many bits of their number. */
#define WAITPROF_LIVE_EPOCHS		GENMASK(27, 0)

/* Places tried for an object, one after another. */
#define WAITPROF_LIVE_TRIES		32u

/* Of a tag. */
#define WAITPROF_LIVE_TRACKER		GENMASK(3, 0)
#define WAITPROF_LIVE_EPOCH		4

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

extern struct waitprof_live *waitprof_live;
extern u32 waitprof_live_mask;
extern u32 waitprof_live_shift;

static __always_inline u32 waitprof_live_hash(unsigned long object)
{
	return object * GOLDEN_RATIO_64 >> waitprof_live_shift;
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
static __always_inline bool waitprof_live_insert(unsigned long object,
						 u32 tracker, u32 path,
						 u32 epoch)
{
	u32 hash = waitprof_live_hash(object), i;

	for (i = hash; i != hash + WAITPROF_LIVE_TRIES; i++) {
		struct waitprof_live *l =
			&waitprof_live[i & waitprof_live_mask];
		unsigned long old = READ_ONCE(l->object);

		/* Its own entry: the probe missed its last going. One behind
		 * a free place is not looked for. Another tracker may have the
		 * same object.
		 */
		if (unlikely(old == object) &&
		    (l->tag & WAITPROF_LIVE_TRACKER) != tracker)
			continue;
		if (old == object || (!old && !cmpxchg(&l->object, 0, object))) {
			l->path = path;
			l->tag = epoch << WAITPROF_LIVE_EPOCH | tracker;
			return true;
		}
	}
	return false;
}

/**
 * waitprof_live_remove() - an object is taken back
 * @object: its address
 * @tracker: place of its tracker
 *
 * Context: any with preemption off.
 * Return: where it was allocated, and in the upper half %WAITPROF_LIVE_EPOCHS
 *	of the number of the window; -1 if it was not there.
 */
static __always_inline s64 waitprof_live_remove(unsigned long object,
						u32 tracker)
{
	u32 hash = waitprof_live_hash(object), i;

	for (i = hash; i != hash + WAITPROF_LIVE_TRIES; i++) {
		struct waitprof_live *l =
			&waitprof_live[i & waitprof_live_mask];
		s64 ret;

		if (READ_ONCE(l->object) != object ||
		    (l->tag & WAITPROF_LIVE_TRACKER) != tracker)
			continue;
		ret = (u64)(l->tag >> WAITPROF_LIVE_EPOCH) << 32 | l->path;
		/* pairs with the cmpxchg() of waitprof_live_insert() */
		smp_store_release(&l->object, 0);
		return ret;
	}
	return -1;
}

void waitprof_live_forget(u32 tracker,
			  void (*gone)(u32 tracker, u32 path, u32 epoch));

int waitprof_live_init(unsigned int objects);
void waitprof_live_exit(void);
u64 waitprof_live_bytes(void);

#endif /* _WAITPROF_LIVE_H */
