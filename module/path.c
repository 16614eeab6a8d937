// SPDX-License-Identifier: GPL-2.0
/* AGGREGATE: call paths of allocations. See path.h. */

#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include "path.h"
#include "site.h"

/* The parent of a path with one frame. */
#define WAITPROF_PATH_ROOT(tracker)	(BIT(31) | (tracker))

static u64 *waitprof_path_keys;
static u32 waitprof_npaths;		/* without (other) */
u32 waitprof_path_depth;
DEFINE_PER_CPU(struct waitprof_recent[WAITPROF_RECENTS], waitprof_recents);

static u32 waitprof_path_child(u32 parent, u32 site)
{
	u64 key = (u64)parent << 32 | site;
	u32 n = waitprof_npaths, hash = hash_64(key, 32) % n, i;

	for (i = 0; i < n; i++) {
		u64 *p = &waitprof_path_keys[1 + (hash + i) % n];
		u64 old = READ_ONCE(*p);

		if (!old)
			old = cmpxchg64(p, 0, key);
		if (!old || old == key)
			return p - waitprof_path_keys;
	}
	return WAITPROF_PATH_OTHER;
}

/**
 * waitprof_path_walk() - find a path that is not a recent one
 * @r: where to remember it
 * @tracker: number of the tracker whose function it is
 * @ip: where its entry is
 * @regs: the registers there
 *
 * Functions that this calls may be tracked; then it is entered again.
 *
 * Context: a probe's handler, interrupts are off.
 * Return: number of the path; %WAITPROF_PATH_OTHER when the table is full.
 */
noinline u32 waitprof_path_walk(struct waitprof_recent *r, u32 tracker,
				unsigned long ip, struct pt_regs *regs)
{
	unsigned long *slot = waitprof_entry_slot(regs);
	struct waitprof_frame frames[WAITPROF_DEPTH_MAX];
	u32 path = WAITPROF_PATH_ROOT(tracker), n, i;
	u32 turns = READ_ONCE(waitprof_memo_turns);
	bool fixed;

	n = waitprof_site_frames(regs, ip, waitprof_path_depth, frames, &fixed);
	if (!n)
		path = waitprof_path_child(path, WAITPROF_SITE_UNKNOWN);
	for (i = 0; i < n && path != WAITPROF_PATH_OTHER; i++)
		path = waitprof_path_child(path, frames[i].site);
	if (!n || !fixed)
		return path;

	r->slot = slot;
	r->tracker = tracker;
	r->turns = turns;
	r->path = path;
	for (i = 0; i < WAITPROF_DEPTH_MAX; i++) {
		r->frame[i].at = i < n ? frames[i].slot : &r->frame[i].ra;
		r->frame[i].ra = i < n ? frames[i].ra : 0;
	}
	return path;
}

/**
 * waitprof_path_key() - what a path is
 * @path: its number
 * @tracker: gets the tracker
 * @sites: gets the sites, outermost first; room for %WAITPROF_DEPTH_MAX
 * @depth: gets how many
 *
 * Return: whether that path is in use.
 */
bool waitprof_path_key(u32 path, u32 *tracker, u32 *sites, u32 *depth)
{
	u64 key = READ_ONCE(waitprof_path_keys[path]);

	if (!key)
		return false;
	for (*depth = 0; *depth < WAITPROF_DEPTH_MAX;) {
		sites[(*depth)++] = key;
		path = key >> 32;
		if (path & BIT(31))
			break;
		key = READ_ONCE(waitprof_path_keys[path]);
	}
	*tracker = path & ~BIT(31);
	return true;
}

/**
 * waitprof_paths_end() - one more than the highest number of a path
 */
u32 waitprof_paths_end(void)
{
	return waitprof_npaths + 1;
}

/**
 * waitprof_path_init() - get the memory for paths
 * @paths: how many
 * @depth: frames of a path, at most %WAITPROF_DEPTH_MAX
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int waitprof_path_init(unsigned int paths, unsigned int depth)
{
	waitprof_npaths = paths;
	waitprof_path_depth = depth;
	waitprof_path_keys = kvcalloc(waitprof_paths_end(),
				      sizeof(*waitprof_path_keys), GFP_KERNEL);
	return waitprof_path_keys ? 0 : -ENOMEM;
}

/**
 * waitprof_path_exit() - give it back
 *
 * Context: process, when no probe runs any more.
 */
void waitprof_path_exit(void)
{
	kvfree(waitprof_path_keys);
}

/**
 * waitprof_path_bytes() - its memory
 */
u64 waitprof_path_bytes(void)
{
	return (u64)waitprof_paths_end() * sizeof(*waitprof_path_keys) +
	       (u64)num_possible_cpus() * sizeof(waitprof_recents);
}
