// SPDX-License-Identifier: GPL-2.0
/* AGGREGATE: live objects. See live.h. */

#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/vmalloc.h>
#include "live.h"

struct waitprof_live *waitprof_live;
u32 waitprof_live_mask;
u32 waitprof_live_shift;

/**
 * waitprof_live_forget() - the objects of a tracker are no longer followed
 * @tracker: its place
 * @gone: called for each, with the path and the number of the window; or NULL
 *
 * Context: process, may sleep; no probe of the tracker is in place.
 */
void waitprof_live_forget(u32 tracker,
			  void (*gone)(u32 tracker, u32 path, u32 epoch))
{
	u32 i;

	for (i = 0; waitprof_live && i <= waitprof_live_mask; i++) {
		struct waitprof_live *l = &waitprof_live[i];

		u64 key = READ_ONCE(l->key);

		if (!(i % 4096))
			cond_resched();
		if (!key || key >> WAITPROF_LIVE_TRACKER != tracker)
			continue;
		if (gone)
			gone(tracker, l->path, l->epoch);
		/* pairs with the cmpxchg64() of waitprof_live_insert() */
		smp_store_release(&l->key, 0);
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
	u32 bits = order_base_2(objects);

	waitprof_live_mask = BIT(bits) - 1;
	waitprof_live_shift = 64 - bits;
	waitprof_live = vzalloc(array_size(BIT(bits), sizeof(*waitprof_live)));
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
	return waitprof_live ? sizeof(*waitprof_live) *
			       (waitprof_live_mask + 1ull) : 0;
}
