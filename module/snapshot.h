/* SPDX-License-Identifier: GPL-2.0 */
/*
 * REPORT: what the tables held at one moment, sorted.
 */
#ifndef _WAITPROF_SNAPSHOT_H
#define _WAITPROF_SNAPSHOT_H

#include <linux/types.h>
#include "compat/meminfo.h"
#include "poll.h"
#include "probe.h"
#include "site.h"
#include "table.h"
#include "tracker.h"

/**
 * struct waitprof_sum - a row over all CPUs
 * @addr: address of its site
 * @kind: see WAITPROF_KINDS
 * @waits: how many finished; the next four are of these, within the window
 * @total_ns: their time
 * @runq_ns: that part of it that was spent on the run queue
 * @max_ns: the longest
 * @hist: how many, by length
 * @in_flight: waits in progress
 * @in_flight_ns: their time so far, clipped to the window
 * @oldest_ns: the age of the oldest, not clipped
 * @oldest_pid: its task
 * @name: of the site
 */
struct waitprof_sum {
	unsigned long addr;
	u32 kind;
	u64 waits;
	u64 total_ns;
	u64 runq_ns;
	u64 max_ns;
	u64 hist[WAITPROF_BUCKETS];
	u64 in_flight;
	u64 in_flight_ns;
	u64 oldest_ns;
	pid_t oldest_pid;
	char name[WAITPROF_NAME_LEN];
};

/**
 * struct waitprof_lost - what could not be counted, or is in doubt
 * @no_slot: waits that found no slot
 * @other: waits in the row (other)
 * @late: sites found at the switch, though schedule() is probed
 * @clock_steps: ends that came before their beginning, counted with 0 ns
 * @racing: waits that ended while the snapshot was taken: in flight no more,
 *	and perhaps not yet in a row
 * @object_overflow: objects for which the map had no room
 * @object_cut: objects that were no longer followed from an off on
 */
struct waitprof_lost {
	u64 no_slot;
	u64 other;
	u64 late;
	u64 clock_steps;
	u64 racing;
	u64 object_overflow;
	u64 object_cut;
};

/**
 * struct waitprof_window - the window that a snapshot is of
 * @on: recording at its end
 * @resets: how many there were before
 * @end: its end, ns of waitprof_clock()
 * @ns: its length, less the time switched off
 * @realtime: its end, ns since 1970
 * @cut: waits ended by off
 * @cut_ns: their time
 * @missed: hits that kprobes could not take
 * @poll_early: wake-ups that found their poller not asleep in poll
 * @poll_missed: wake-ups that the probe on them could not take
 */
struct waitprof_window {
	bool on;
	u32 resets;
	u64 end;
	u64 ns;
	u64 realtime;
	u64 cut;
	u64 cut_ns;
	u64 missed;
	u64 poll_early;
	u64 poll_missed;
};

/**
 * struct waitprof_snapshot - all that a report needs
 * @window: the window
 * @lost: what is missing from it
 * @memory: free memory and where the rest went
 * @probe: the hook in use
 * @poll: the probe on pollwake()
 * @memo: what the memo is worth, since the module was loaded
 * @cpus: how many were online
 * @rows_used: rows in use
 * @nsorted: how many of them have something to show
 * @closed: of a window that was closed by a reset
 * @show_addr: the reader may see kernel addresses
 * @sorted: the rows that have something to show, the longest time first
 * @seqs: for waitprof_slot_seqs()
 * @objects: by place of the tracker
 * @npaths: how many paths have something to show
 * @paths: these, the most allocations first
 * @sums: by number of the row
 */
struct waitprof_snapshot {
	struct waitprof_window window;
	struct waitprof_lost lost;
	struct waitprof_meminfo memory;
	struct waitprof_probe_state probe;
	struct waitprof_poll_state poll;
	struct waitprof_site_stats memo;
	unsigned int cpus;
	u32 rows_used;
	u32 nsorted;
	bool closed;
	bool show_addr;
	struct waitprof_sum **sorted;
	u32 *seqs;
	struct waitprof_tracker_sum objects[WAITPROF_TRACKERS];
	u32 npaths;
	struct waitprof_path_sum *paths;
	struct waitprof_sum sums[];
};

struct waitprof_snapshot *waitprof_snapshot_alloc(void);
void waitprof_snapshot_free(struct waitprof_snapshot *snap);
void waitprof_snapshot_take(struct waitprof_snapshot *snap);
u64 waitprof_snapshot_close(struct waitprof_snapshot *snap);

#endif /* _WAITPROF_SNAPSHOT_H */
