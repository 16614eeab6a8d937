// SPDX-License-Identifier: GPL-2.0
/* AGGREGATE: allocations of objects. See object.h. */

#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>
#include "live.h"
#include "object.h"
#include "path.h"

DEFINE_PER_CPU(struct waitprof_object_cells *, waitprof_object_active);
static DEFINE_PER_CPU(struct waitprof_object_cells *, waitprof_object_spare);
static struct waitprof_shared waitprof_shared[2][WAITPROF_TRACKERS];
u64 waitprof_batch_most;
u64 waitprof_batch_range;
static bool waitprof_mapped;		/* live=map */

static size_t waitprof_object_cells_size(void)
{
	return struct_size((struct waitprof_object_cells *)NULL, path,
			   waitprof_paths_end());
}

static struct waitprof_object_cells *waitprof_object_cells(int cpu, bool spare)
{
	return spare ? per_cpu(waitprof_object_spare, cpu) :
		       per_cpu(waitprof_object_active, cpu);
}

static void waitprof_object_peak(struct waitprof_shared *s, s64 live)
{
	s64 peak = atomic64_read(&s->peak);

	while (live > peak && !atomic64_try_cmpxchg(&s->peak, &peak, live))
		;
}

/**
 * waitprof_object_fold() - tell the others what this CPU has counted
 * @c: its cells
 * @cell: of the tracker among them
 *
 * Context: a probe's handler, interrupts are off.
 */
noinline void waitprof_object_fold(struct waitprof_object_cells *c,
				   struct waitprof_object_cell *cell)
{
	struct waitprof_shared *s = &c->shared[cell - c->tracker];
	s64 live = atomic64_add_return(cell->unfolded, &s->live);

	cell->unfolded = 0;
	waitprof_object_peak(s, live);
}

/* An object is no longer followed, at the end of recording. */
static void waitprof_object_cut(u32 tracker, u32 path, u32 epoch)
{
	struct waitprof_object_cells *c = waitprof_object_cells(0, false);
	struct waitprof_object_cell *cell = &c->tracker[tracker];

	if (epoch != c->epoch)
		return;
	c->path[path].gone++;
	cell->counts.cut++;
	waitprof_object_net(c, cell, -1);
}

/**
 * waitprof_object_stop() - what is taken back from now on is not seen
 * @tracker: place of the tracker
 *
 * Context: process, may sleep; no probe of that tracker is in place.
 */
void waitprof_object_stop(u32 tracker)
{
	waitprof_live_forget(tracker, waitprof_object_cut);
}

/**
 * waitprof_object_mapped() - is it live=map?
 */
bool waitprof_object_mapped(void)
{
	return waitprof_mapped;
}

/**
 * waitprof_object_sum() - a tracker over all CPUs
 * @tracker: its place
 * @spare: of the window that was closed
 * @sum: gets it
 *
 * What is live now counts for the peak.
 *
 * Context: process.
 * Return: the peak.
 */
s64 waitprof_object_sum(u32 tracker, bool spare, struct waitprof_counts *sum)
{
	struct waitprof_shared *shared =
		&waitprof_object_cells(0, spare)->shared[tracker];
	/* Before what the CPUs keep to themselves, which may be added to it
	 * meanwhile: then it is seen in neither.
	 */
	s64 live = atomic64_read(&shared->live);
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu) {
		const struct waitprof_object_cells *c =
			waitprof_object_cells(cpu, spare);
		const struct waitprof_counts *n = &c->tracker[tracker].counts;

		sum->allocs += READ_ONCE(n->allocs);
		sum->frees += READ_ONCE(n->frees);
		sum->failed += READ_ONCE(n->failed);
		sum->older_frees += READ_ONCE(n->older_frees);
		sum->overflow += READ_ONCE(n->overflow);
		sum->cut += READ_ONCE(n->cut);
		sum->other += READ_ONCE(n->other);
		live += READ_ONCE(c->tracker[tracker].unfolded);
	}
	waitprof_object_peak(shared, live);
	/* The sum is not of one moment, so it does not stay. */
	return max(atomic64_read(&shared->peak), waitprof_counts_live(sum));
}

/**
 * waitprof_object_path_sum() - a path over all CPUs
 * @spare: of the window that was closed
 * @sum: has the number of the path, gets the rest
 *
 * Context: process.
 */
void waitprof_object_path_sum(bool spare, struct waitprof_path_sum *sum)
{
	int cpu;

	sum->count = 0;
	sum->live = 0;
	for_each_possible_cpu(cpu) {
		const struct waitprof_path_cell *p =
			&waitprof_object_cells(cpu, spare)->path[sum->path];

		sum->count += READ_ONCE(p->allocs);
		sum->live -= READ_ONCE(p->gone);
	}
	sum->live += sum->count;
}

/**
 * waitprof_object_zero() - the place of a tracker is for another now
 * @tracker: the place
 *
 * Context: process; no probe of that tracker is in place.
 */
void waitprof_object_zero(u32 tracker)
{
	int cpu, gen;

	for_each_possible_cpu(cpu) {
		for (gen = 0; gen < 2; gen++)
			memset(&waitprof_object_cells(cpu, gen)->tracker[tracker],
			       0, sizeof(struct waitprof_object_cell));
	}
	for (gen = 0; gen < 2; gen++)
		memset(&waitprof_shared[gen][tracker], 0,
		       sizeof(struct waitprof_shared));
	waitprof_live_forget(tracker, NULL);
}

/**
 * waitprof_object_swap() - begin a new window
 *
 * What was in use is the spare generation from now on, and is complete after
 * synchronize_rcu().
 *
 * Context: process, one at a time.
 */
void waitprof_object_swap(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct waitprof_object_cells *old =
			per_cpu(waitprof_object_active, cpu);
		struct waitprof_object_cells *new =
			per_cpu(waitprof_object_spare, cpu);

		new->epoch = old->epoch + 1;
		per_cpu(waitprof_object_spare, cpu) = old;
		/* Pairs with the loads that hang on it in the handlers. */
		smp_store_release(&per_cpu(waitprof_object_active, cpu), new);
	}
}

/**
 * waitprof_object_clear_spare() - make ready for the next swap
 *
 * Context: process, one at a time, when nobody writes the spare cells.
 */
void waitprof_object_clear_spare(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct waitprof_object_cells *c =
			per_cpu(waitprof_object_spare, cpu);
		struct waitprof_shared *shared = c->shared;

		memset(shared, 0, sizeof(waitprof_shared[0]));
		memset(c, 0, waitprof_object_cells_size());
		c->shared = shared;
	}
}

/**
 * waitprof_object_init() - get the memory
 * @batch: allocations less frees that a CPU keeps to itself
 * @objects: live objects that can be followed; 0: live=count
 *
 * Context: process, may sleep; after waitprof_path_init().
 * Return: 0 or -ENOMEM, then nothing is left.
 */
int waitprof_object_init(unsigned int batch, unsigned int objects)
{
	int cpu;

	waitprof_batch_most = batch - 1;
	waitprof_batch_range = 2 * waitprof_batch_most;
	waitprof_mapped = objects;
	for_each_possible_cpu(cpu) {
		struct waitprof_object_cells *active, *spare;

		active = vzalloc_node(waitprof_object_cells_size(),
				      cpu_to_node(cpu));
		spare = vzalloc_node(waitprof_object_cells_size(),
				     cpu_to_node(cpu));
		per_cpu(waitprof_object_active, cpu) = active;
		per_cpu(waitprof_object_spare, cpu) = spare;
		if (!active || !spare)
			goto out_free;
		active->shared = waitprof_shared[0];
		spare->shared = waitprof_shared[1];
	}
	if (!objects || !waitprof_live_init(objects))
		return 0;
out_free:
	waitprof_object_exit();
	return -ENOMEM;
}

/**
 * waitprof_object_exit() - give it back
 *
 * Context: process, when no probe runs any more.
 */
void waitprof_object_exit(void)
{
	int cpu;

	waitprof_live_exit();
	for_each_possible_cpu(cpu) {
		vfree(per_cpu(waitprof_object_active, cpu));
		vfree(per_cpu(waitprof_object_spare, cpu));
	}
}

/**
 * waitprof_object_bytes() - its memory
 */
u64 waitprof_object_bytes(void)
{
	return (u64)num_possible_cpus() * 2 * waitprof_object_cells_size() +
	       waitprof_live_bytes();
}
