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
 * for frames whose distances are fixed, and only such paths are remembered.
 */
#ifndef _WAITPROF_PATH_H
#define _WAITPROF_PATH_H

#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/types.h>
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
 * @path: its number
 * @frame: where its return addresses lie, and what they are; the last has a
 *	place of NULL
 */
struct waitprof_recent {
	unsigned long *slot;
	u32 tracker;
	u32 path;
	struct {
		unsigned long *at;
		unsigned long ra;
	} frame[WAITPROF_DEPTH_MAX + 1];
};

DECLARE_PER_CPU(struct waitprof_recent[WAITPROF_RECENTS], waitprof_recents);

u32 waitprof_path_walk(struct waitprof_recent *r, u32 tracker,
		       struct kprobe *p, struct pt_regs *regs);

/**
 * waitprof_path() - the path to a function
 * @tracker: number of the tracker whose function it is
 * @p: the kprobe that stands on it
 * @regs: the registers at its entry
 *
 * Context: a kprobe's handler, preemption is off; such handlers do not nest.
 * Return: number of the path; %WAITPROF_PATH_OTHER when the table is full.
 */
static __always_inline u32 waitprof_path(u32 tracker, struct kprobe *p,
					 struct pt_regs *regs)
{
	unsigned long *slot = (unsigned long *)kernel_stack_pointer(regs);
	u32 i = (READ_ONCE_NOCHECK(*slot) >> 4) % WAITPROF_RECENTS;
	struct waitprof_recent *r = &(*this_cpu_ptr(&waitprof_recents))[i];

	if (unlikely(r->slot != slot || r->tracker != tracker))
		return waitprof_path_walk(r, tracker, p, regs);
	for (i = 0; r->frame[i].at; i++)
		if (unlikely(READ_ONCE_NOCHECK(*r->frame[i].at) !=
			     r->frame[i].ra))
			return waitprof_path_walk(r, tracker, p, regs);
	return r->path;
}

bool waitprof_path_key(u32 path, u32 *tracker, u32 *sites, u32 *depth);
u32 waitprof_paths_end(void);
void waitprof_path_forget(void);

int waitprof_path_init(unsigned int paths, unsigned int depth);
void waitprof_path_exit(void);
u64 waitprof_path_bytes(void);

#endif /* _WAITPROF_PATH_H */
