// SPDX-License-Identifier: GPL-2.0
/* REPORT: take a snapshot. See snapshot.h. */

#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sort.h>
#include <linux/string.h>
#include "path.h"
#include "record.h"
#include "slot.h"
#include "snapshot.h"

/**
 * waitprof_snapshot_alloc() - get the memory for a snapshot
 *
 * Context: process, may sleep.
 * Return: the snapshot or NULL.
 */
struct waitprof_snapshot *waitprof_snapshot_alloc(void)
{
	u32 rows = waitprof_rows_end();
	struct waitprof_snapshot *snap =
		kvzalloc(struct_size(snap, sums, rows), GFP_KERNEL);

	if (!snap)
		return NULL;
	snap->sorted = kvmalloc_array(rows, sizeof(*snap->sorted), GFP_KERNEL);
	snap->seqs = kvmalloc_array(waitprof_slot_count(),
				    sizeof(*snap->seqs), GFP_KERNEL);
	snap->paths = kvmalloc_array(waitprof_paths_end(),
				     sizeof(*snap->paths), GFP_KERNEL);
	if (snap->sorted && snap->seqs && snap->paths)
		return snap;
	waitprof_snapshot_free(snap);
	return NULL;
}

/**
 * waitprof_snapshot_free() - give it back
 * @snap: the snapshot or NULL
 */
void waitprof_snapshot_free(struct waitprof_snapshot *snap)
{
	if (!snap)
		return;
	kvfree(snap->sorted);
	kvfree(snap->seqs);
	kvfree(snap->paths);
	kvfree(snap);
}

/* A cell as it was at one moment. */
static void waitprof_cell_read(const struct waitprof_cells *cells, u32 row,
			       struct waitprof_cell *cell)
{
	unsigned int seq;

	do {
		seq = raw_read_seqcount_begin(&cells->seq);
		*cell = cells->cell[row];
	} while (read_seqcount_retry(&cells->seq, seq));
}

static void waitprof_sum_cell(struct waitprof_sum *sum,
			      const struct waitprof_cell *cell)
{
	int i;

	for (i = 0; i < WAITPROF_BUCKETS; i++) {
		sum->hist[i] += cell->hist[i];
		sum->waits += cell->hist[i];
	}
	sum->total_ns += cell->total_ns;
	sum->runq_ns += cell->runq_ns;
	sum->max_ns = max(sum->max_ns, cell->max_ns);
	sum->in_flight += cell->cut;
	sum->in_flight_ns += cell->cut_ns;
}

static void waitprof_sum_cells(struct waitprof_snapshot *snap, bool spare)
{
	u32 rows = waitprof_rows_end(), row, site, kind;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct waitprof_cells *cells = waitprof_cells(cpu, spare);
		struct waitprof_cell cell;

		snap->lost.no_slot += READ_ONCE(cells->no_slot);
		snap->lost.late += READ_ONCE(cells->late);
		snap->lost.clock_steps += READ_ONCE(cells->clock_steps);
		for (row = WAITPROF_ROW_OTHER; row < rows; row++) {
			if (!waitprof_row_key(row, &site, &kind))
				continue;
			waitprof_cell_read(cells, row, &cell);
			waitprof_sum_cell(&snap->sums[row], &cell);
		}
		cond_resched();
	}
}

static void waitprof_sum_flight(const struct waitprof_flight *f, void *data)
{
	struct waitprof_snapshot *snap = data;
	struct waitprof_sum *sum = &snap->sums[f->row];
	u64 end = snap->window.end;
	u64 start = waitprof_cells(0, snap->closed)->start;
	u64 age = end - min(end, f->t0);

	sum->in_flight++;
	sum->in_flight_ns += end - min(end, max(f->t0, start));
	if (age >= sum->oldest_ns) {
		sum->oldest_ns = age;
		sum->oldest_pid = f->pid;
	}
}

static int waitprof_sum_cmp(const void *a, const void *b)
{
	const struct waitprof_sum *x = *(const struct waitprof_sum **)a;
	const struct waitprof_sum *y = *(const struct waitprof_sum **)b;
	u64 tx = x->total_ns + x->in_flight_ns;
	u64 ty = y->total_ns + y->in_flight_ns;
	int cmp;

	if (tx != ty)
		return tx < ty ? 1 : -1;
	cmp = strcmp(x->name, y->name);
	if (cmp)
		return cmp;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static int waitprof_path_cmp(const void *a, const void *b)
{
	const struct waitprof_path_sum *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x->path < y->path ? -1 : x->path > y->path;
}

static void waitprof_sum_objects(struct waitprof_snapshot *snap, bool spare)
{
	u32 i;

	for (i = 0; i < WAITPROF_TRACKERS; i++) {
		waitprof_tracker_sum(i, spare, &snap->objects[i]);
		snap->lost.object_overflow += snap->objects[i].counts.overflow;
		snap->lost.object_cut += snap->objects[i].counts.cut;
	}
	for (i = WAITPROF_PATH_OTHER + 1; i < waitprof_paths_end(); i++) {
		struct waitprof_path_sum *p = &snap->paths[snap->npaths];

		p->path = i;
		waitprof_object_path_sum(spare, p);
		if (p->count)
			snap->npaths++;
	}
	sort(snap->paths, snap->npaths, sizeof(*snap->paths),
	     waitprof_path_cmp, NULL);
}

/* What is left once the sums are made. */
static void waitprof_snapshot_finish(struct waitprof_snapshot *snap)
{
	u32 rows = waitprof_rows_end(), row, site;

	for (row = WAITPROF_ROW_OTHER; row < rows; row++) {
		struct waitprof_sum *sum = &snap->sums[row];

		if (!waitprof_row_key(row, &site, &sum->kind))
			continue;
		if (row != WAITPROF_ROW_OTHER)
			snap->rows_used++;
		else
			snap->lost.other = sum->waits;
		if (!sum->waits && !sum->in_flight && row != WAITPROF_ROW_OTHER)
			continue;
		sum->addr = waitprof_site_addr(site);
		waitprof_site_name(site, sum->name, sizeof(sum->name));
		snap->sorted[snap->nsorted++] = sum;
	}
	sort(snap->sorted, snap->nsorted, sizeof(*snap->sorted),
	     waitprof_sum_cmp, NULL);
	waitprof_meminfo(&snap->memory);
	snap->probe = waitprof_probe_state();
	snap->poll = waitprof_poll_state();
	snap->memo = waitprof_site_stats();
	snap->cpus = num_online_cpus();
}

/**
 * waitprof_snapshot_take() - fill a snapshot of the running window
 * @snap: from waitprof_snapshot_alloc()
 *
 * A wait is never in it twice. One that ends meanwhile may be missing, and is
 * counted as racing.
 *
 * Context: process, may sleep; no reset at the same time.
 */
void waitprof_snapshot_take(struct waitprof_snapshot *snap)
{
	waitprof_slot_seqs(snap->seqs);
	waitprof_sum_cells(snap, false);
	waitprof_sum_objects(snap, false);
	/* Finished waits ended before this, those in flight will end after. */
	snap->window.end = waitprof_clock();
	snap->lost.racing = waitprof_slot_flights(snap->seqs,
						  waitprof_sum_flight, snap);
	kvfree(snap->seqs);
	snap->seqs = NULL;
	waitprof_snapshot_finish(snap);
}

/**
 * waitprof_snapshot_close() - begin a new window
 * @snap: from waitprof_snapshot_alloc(), to be filled with the window that
 *	ends now, to the last wait; or NULL
 *
 * Context: process, may sleep; one at a time.
 * Return: when the new window began, ns of waitprof_clock().
 */
u64 waitprof_snapshot_close(struct waitprof_snapshot *snap)
{
	unsigned long flags;
	u64 now;

	/* On all CPUs at one time, or near it. */
	local_irq_save(flags);
	now = waitprof_clock();
	waitprof_cells_swap(now);
	waitprof_object_swap();
	local_irq_restore(flags);
	if (snap) {
		snap->closed = true;
		snap->window.end = now;
	}
	waitprof_slot_close(now, waitprof_cells(0, false)->epoch,
			    snap ? waitprof_sum_flight : NULL, snap);
	if (snap) {
		waitprof_sum_cells(snap, true);
		waitprof_sum_objects(snap, true);
		waitprof_snapshot_finish(snap);
	}
	waitprof_cells_clear_spare();
	waitprof_object_clear_spare();
	return now;
}
