/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AGGREGATE: call paths of allocations.
 *
 * A path is a node in a tree: its parent is the path without its outermost
 * frame, and at the root stands the tracker. The key of a node is one word,
 * {parent, site}, so nodes are inserted as sites and rows are (table.h).
 *
 * A task that allocates in a loop comes with the same stack each time. Each CPU
 * remembers a few paths with the places of their return addresses; if all of
 * them are there again, it is the same path, and nothing is walked. That holds
 * for frames whose distances are fixed, and only such paths are remembered,
 * until the memo has to take something back.
 */
#ifndef _WAITPROF_PATH_H
#define _WAITPROF_PATH_H

#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/types.h>
#include "site.h"
#include "waitprof.h"

#define WAITPROF_DEPTH_MAX	8u
#define WAITPROF_PATHS_DEFAULT	1024u
#define WAITPROF_PATHS_MAX	16384u

/* The path of all that found no place. */
#define WAITPROF_PATH_OTHER	0u

#define WAITPROF_RECENTS	8u

/**
 * struct waitprof_recent - a path that was met on this CPU
 * @slot: place of its first return address; NULL if there is none
 * @tracker: of which tracker
 * @turns: of the memo, when it was walked
 * @path: its number
 * @frame: where its return addresses lie, and what they are; a frame that it
 *	does not have lies at its own @ra, so that it is always what it is
 */
struct waitprof_recent {
	unsigned long *slot;
	u32 tracker;
	u32 turns;
	u32 path;
	struct {
		unsigned long *at;
		unsigned long ra;
	} frame[WAITPROF_DEPTH_MAX];
};

DECLARE_PER_CPU(struct waitprof_recent[WAITPROF_RECENTS], waitprof_recents);
extern u32 waitprof_path_depth;

u32 waitprof_path_walk(struct waitprof_recent *r, u32 tracker,
		       unsigned long ip, struct pt_regs *regs);

/* Is one of four frames another? Without branches, which cost more than the
 * comparisons.
 */
static __always_inline bool waitprof_frames_differ(const struct waitprof_recent *r,
						   u32 i)
{
	return (waitprof_ra(r->frame[i].at) ^ r->frame[i].ra) |
	       (waitprof_ra(r->frame[i + 1].at) ^ r->frame[i + 1].ra) |
	       (waitprof_ra(r->frame[i + 2].at) ^ r->frame[i + 2].ra) |
	       (waitprof_ra(r->frame[i + 3].at) ^ r->frame[i + 3].ra);
}

/**
 * waitprof_path() - the path to a function
 * @tracker: number of the tracker whose function it is
 * @ip: where its entry is
 * @regs: the registers there
 *
 * Context: a probe's handler, interrupts are off.
 * Return: number of the path; %WAITPROF_PATH_OTHER when the table is full.
 */
static __always_inline u32 waitprof_path(u32 tracker, unsigned long ip,
					 struct pt_regs *regs)
{
	unsigned long *slot = waitprof_entry_slot(regs);
	u32 i = (waitprof_ra(slot) >> 4) % WAITPROF_RECENTS;
	struct waitprof_recent *r = &(*this_cpu_ptr(&waitprof_recents))[i];

	if (unlikely(r->slot != slot || r->tracker != tracker ||
		     r->turns != READ_ONCE(waitprof_memo_turns)))
		return waitprof_path_walk(r, tracker, ip, regs);
	if (unlikely(waitprof_frames_differ(r, 0)) ||
	    (waitprof_path_depth > 4 && unlikely(waitprof_frames_differ(r, 4))))
		return waitprof_path_walk(r, tracker, ip, regs);
	return r->path;
}

bool waitprof_path_key(u32 path, u32 *tracker, u32 *sites, u32 *depth);
u32 waitprof_paths_end(void);

int waitprof_path_init(unsigned int paths, unsigned int depth);
void waitprof_path_exit(void);
u64 waitprof_path_bytes(void);

#endif /* _WAITPROF_PATH_H */
