/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AGGREGATE: allocations of objects, counted per CPU.
 *
 * Each CPU has two generations of cells, as with waits (table.h). They are
 * written by its own CPU alone, from handlers of probes only, with interrupts
 * off; a non-maskable one counts nothing but that it was missed. A reset swaps
 * the generations.
 *
 * live=count: objects are counted as they come and go; live is the net of the
 * window, so objects that are older make it fall.
 * live=map: objects are followed by their addresses (live.h); live is what was
 * allocated in the window and not given back, in all and by path.
 */
#ifndef _WAITPROF_OBJECT_H
#define _WAITPROF_OBJECT_H

#include <linux/atomic.h>
#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include "live.h"
#include "path.h"
#include "waitprof.h"

#define WAITPROF_TRACKERS	16u

/* The peak is off by at most so much for each CPU. */
#define WAITPROF_BATCH_DEFAULT	64u
#define WAITPROF_BATCH_MAX	65536u

/**
 * struct waitprof_counts - a tracker, on one CPU or summed over all
 * @allocs: objects handed out
 * @frees: objects taken back; with live=map those of the window
 * @failed: calls that handed out nothing (live=map)
 * @older_frees: objects taken back that are older than the window (live=map)
 * @overflow: objects for which the map had no room, so that they are not
 *	followed (live=map)
 * @cut: objects that were followed when recording was switched off (live=map)
 * @other: allocations whose path found no place
 */
struct waitprof_counts {
	u64 allocs;
	u64 frees;
	u64 failed;
	u64 older_frees;
	u64 overflow;
	u64 cut;
	u64 other;
};

/**
 * waitprof_counts_live() - handed out and, as far as is known, not taken back
 * @n: summed over all CPUs
 *
 * Objects that are not followed are left out: nobody would know of their end.
 */
static inline s64 waitprof_counts_live(const struct waitprof_counts *n)
{
	return n->allocs - n->frees - n->overflow - n->cut;
}

/**
 * struct waitprof_path_sum - a path over all CPUs
 * @path: its number
 * @count: allocations in the window
 * @live: those not given back (live=map)
 */
struct waitprof_path_sum {
	u32 path;
	u64 count;
	s64 live;
};

/**
 * struct waitprof_shared - what the CPUs have in common of a tracker
 * @live: allocations less frees, as far as they were folded
 * @peak: the most that was
 */
struct waitprof_shared {
	atomic64_t live;
	atomic64_t peak;
};

/**
 * struct waitprof_object_cell - a tracker on one CPU
 * @counts: what was counted
 * @unfolded: allocations less frees that @live of the shared does not know yet
 */
struct waitprof_object_cell {
	struct waitprof_counts counts;
	s64 unfolded;
} __aligned(64);

/**
 * struct waitprof_path_cell - a path on one CPU
 * @allocs: objects handed out
 * @gone: those of them that were taken back, or are not followed (live=map)
 */
struct waitprof_path_cell {
	u64 allocs;
	u64 gone;
};

/**
 * struct waitprof_object_cells - one CPU's cells of one generation
 * @shared: of this generation
 * @epoch: number of the window
 * @tracker: by place of the tracker
 * @path: by number of the path
 */
struct waitprof_object_cells {
	struct waitprof_shared *shared;
	u32 epoch;
	struct waitprof_object_cell tracker[WAITPROF_TRACKERS];
	struct waitprof_path_cell path[];
};

DECLARE_PER_CPU(struct waitprof_object_cells *, waitprof_object_active);
/* Allocations less frees that a CPU may keep to itself: at most the first, and
 * at least the first less the second.
 */
extern u64 waitprof_batch_most, waitprof_batch_range;

void waitprof_object_fold(struct waitprof_object_cells *c,
			  struct waitprof_object_cell *cell);

/**
 * waitprof_object_count() - a function was called
 * @c: this CPU's cells
 * @cell: of the tracker among them
 * @path: the call path
 *
 * Context: a probe's handler, interrupts are off.
 */
static __always_inline void
waitprof_object_count(struct waitprof_object_cells *c,
		      struct waitprof_object_cell *cell, u32 path)
{
	cell->counts.allocs++;
	c->path[path].allocs++;
	if (unlikely(path == WAITPROF_PATH_OTHER))
		cell->counts.other++;
}

/**
 * waitprof_object_net() - there is one object more, or less
 * @c: this CPU's cells
 * @cell: of the tracker among them
 * @n: 1 or -1
 *
 * The shared count moves in steps of a batch, so that CPUs seldom meet there.
 *
 * Context: a probe's handler, interrupts are off.
 */
static __always_inline void
waitprof_object_net(struct waitprof_object_cells *c,
		    struct waitprof_object_cell *cell, int n)
{
	cell->unfolded += n;
	if (unlikely(cell->unfolded + waitprof_batch_most >
		     waitprof_batch_range))
		waitprof_object_fold(c, cell);
}

/**
 * waitprof_object_return() - an object was handed out, or none (live=map)
 * @tracker: place of the tracker
 * @path: the call path
 * @object: its address; 0 if there was none
 *
 * Context: a return probe's handler, interrupts are off.
 */
static __always_inline void waitprof_object_return(u32 tracker, u32 path,
						   unsigned long object)
{
	struct waitprof_object_cells *c =
		this_cpu_read(waitprof_object_active);
	struct waitprof_object_cell *cell = &c->tracker[tracker];

	if (IS_ERR_OR_NULL((void *)object)) {
		cell->counts.failed++;
		return;
	}
	waitprof_object_count(c, cell, path);
	if (waitprof_live_insert(object, tracker, path, c->epoch)) {
		waitprof_object_net(c, cell, 1);
	} else {
		cell->counts.overflow++;
		c->path[path].gone++;
	}
}

/**
 * waitprof_object_free_mapped() - an object is taken back (live=map)
 * @tracker: place of the tracker
 * @object: its address
 *
 * Context: a probe's handler, interrupts are off.
 */
static __always_inline void waitprof_object_free_mapped(u32 tracker,
							unsigned long object)
{
	struct waitprof_object_cells *c =
		this_cpu_read(waitprof_object_active);
	struct waitprof_object_cell *cell = &c->tracker[tracker];
	u32 epoch;
	s64 path = waitprof_live_remove(object, tracker, &epoch);

	if (path < 0 || epoch != c->epoch) {
		cell->counts.older_frees++;
		return;
	}
	c->path[path].gone++;
	cell->counts.frees++;
	waitprof_object_net(c, cell, -1);
}

void waitprof_object_stop(u32 tracker);
bool waitprof_object_mapped(void);
s64 waitprof_object_sum(u32 tracker, bool spare, struct waitprof_counts *sum);
void waitprof_object_path_sum(bool spare, struct waitprof_path_sum *sum);
void waitprof_object_zero(u32 tracker);
void waitprof_object_swap(void);
void waitprof_object_clear_spare(void);

int waitprof_object_init(unsigned int batch, unsigned int objects);
void waitprof_object_exit(void);
u64 waitprof_object_bytes(void);

#endif /* _WAITPROF_OBJECT_H */
