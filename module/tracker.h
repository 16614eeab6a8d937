/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PROBE: what is counted besides waits.
 *
 * A tracker counts the calls of a function, by call path, and those of another
 * that takes back what the first has handed out. Without the second it is a
 * plain count of calls.
 *
 * A tracker whose function is not there says so, and comes alive when a module
 * brings the function. When that module goes, what was counted stays.
 */
#ifndef _WAITPROF_TRACKER_H
#define _WAITPROF_TRACKER_H

#include <linux/types.h>
#include "object.h"

struct waitprof_point;

#define WAITPROF_TRACKER_NAME	32u
/* [MOD:]SYMBOL */
#define WAITPROF_TRACKER_SYMBOL	128u

/* Calls of an allocating function at one time, with live=map: as many tasks
 * may sleep in it.
 */
#define WAITPROF_MAXACTIVE_MIN		16u
#define WAITPROF_MAXACTIVE_DEFAULT	1024u
#define WAITPROF_MAXACTIVE_MAX		65536u

/**
 * struct waitprof_tracker_sum - what the report says of a tracker
 * @used: there is one in this place
 * @paired: it has a function that takes back
 * @counted: its function was there at some time, so the numbers mean something
 * @reached: its probes are reached now, or it has none
 * @serial: its number in paths
 * @unit: bytes of an object, 0 if unknown
 * @name: of the object
 * @note: of which functions, or what is missing
 * @counts: in the window
 * @peak: the most that allocations less frees came to in it
 * @missed: hits that its probes could not take, since load
 */
struct waitprof_tracker_sum {
	bool used;
	bool paired;
	bool counted;
	bool reached;
	u32 serial;
	u32 unit;
	char name[WAITPROF_TRACKER_NAME];
	char note[2 * WAITPROF_TRACKER_SYMBOL];
	struct waitprof_counts counts;
	s64 peak;
	u64 missed;
};

int waitprof_tracker_init(unsigned int maxactive);
void waitprof_tracker_exit(void);
void waitprof_tracker_start(void);
void waitprof_tracker_stop(void);

int waitprof_tracker_add(const char *name, const char *alloc,
			 const char *give_back);
int waitprof_tracker_remove(const char *name);

void waitprof_tracker_anchor(void);
void waitprof_tracker_anchor_notrace(void);
bool waitprof_point_reached(struct waitprof_point *point);
void waitprof_tracker_sum(u32 tracker, bool spare,
			  struct waitprof_tracker_sum *sum);

#endif /* _WAITPROF_TRACKER_H */
