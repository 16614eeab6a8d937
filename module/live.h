/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AGGREGATE: which objects are live, and where each was allocated (live=map).
 *
 * A preallocated table keyed by the address of the object and its tracker. An object has its
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

/* Places tried for an object, one after another. */
#define WAITPROF_LIVE_TRIES		32u

/* The highest bits of an address in the kernel are all the same, so the number of
 * the tracker has room there.
 */
#define WAITPROF_LIVE_TRACKER		60

/**
 * struct waitprof_live - a live object
 * @key: its address and tracker; claimed by compare-and-swap, 0 where the entry
 *	is free
 * @path: where it was allocated
 * @epoch: number of the window in which it was allocated
 */
struct waitprof_live {
	u64 key;
	u32 path;
	u32 epoch;
};

extern struct waitprof_live *waitprof_live;
extern u32 waitprof_live_mask;
extern u32 waitprof_live_shift;

static __always_inline u64 waitprof_live_key(unsigned long object, u32 tracker)
{
	return (object & (BIT_ULL(WAITPROF_LIVE_TRACKER) - 1)) |
	       (u64)tracker << WAITPROF_LIVE_TRACKER;
}

static __always_inline u32 waitprof_live_hash(u64 key)
{
	return key * GOLDEN_RATIO_64 >> waitprof_live_shift;
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
	u64 key = waitprof_live_key(object, tracker);
	u32 hash = waitprof_live_hash(key), i;

	for (i = hash; i != hash + WAITPROF_LIVE_TRIES; i++) {
		struct waitprof_live *l =
			&waitprof_live[i & waitprof_live_mask];
		u64 old = READ_ONCE(l->key);

		/* Its own entry: the probe missed its last going. One behind
		 * a free place is not looked for.
		 */
		if (old == key || (!old && !cmpxchg64(&l->key, 0, key))) {
			l->path = path;
			l->epoch = epoch;
			return true;
		}
	}
	return false;
}

/**
 * waitprof_live_remove() - an object is taken back
 * @object: its address
 * @tracker: place of its tracker
 * @epoch: gets the number of the window in which it was allocated
 *
 * Context: any with preemption off.
 * Return: where it was allocated; -1 if it was not there.
 */
static __always_inline s64 waitprof_live_remove(unsigned long object,
						u32 tracker, u32 *epoch)
{
	u64 key = waitprof_live_key(object, tracker);
	u32 hash = waitprof_live_hash(key), i, path;

	for (i = hash; i != hash + WAITPROF_LIVE_TRIES; i++) {
		struct waitprof_live *l =
			&waitprof_live[i & waitprof_live_mask];

		if (READ_ONCE(l->key) != key)
			continue;
		path = l->path;
		*epoch = l->epoch;
		/* pairs with the cmpxchg64() of waitprof_live_insert() */
		smp_store_release(&l->key, 0);
		return path;
	}
	return -1;
}

void waitprof_live_forget(u32 tracker,
			  void (*gone)(u32 tracker, u32 path, u32 epoch));

int waitprof_live_init(unsigned int objects);
void waitprof_live_exit(void);
u64 waitprof_live_bytes(void);

#endif /* _WAITPROF_LIVE_H */
