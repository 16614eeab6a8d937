/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AGGREGATE: which objects are live, and where each was allocated (live=map).
 *
 * A preallocated table keyed by the address of the object. An object has its
 * entry before its allocating function returns, and loses it when the function
 * that takes it back is entered; in between nobody else looks at the entry.
 */
#ifndef _WAITPROF_LIVE_H
#define _WAITPROF_LIVE_H

#include <linux/bits.h>
#include <linux/types.h>

#define WAITPROF_OBJECTS_MIN		1024u
#define WAITPROF_OBJECTS_DEFAULT	131072u
#define WAITPROF_OBJECTS_MAX		16777216u

/* Windows are told apart by so many bits of their number. */
#define WAITPROF_LIVE_EPOCHS		GENMASK(27, 0)

bool waitprof_live_insert(unsigned long object, u32 tracker, u32 path,
			  u32 epoch);
bool waitprof_live_remove(unsigned long object, u32 tracker, u32 *path,
			  u32 *epoch);
void waitprof_live_forget(u32 tracker);

int waitprof_live_init(unsigned int objects);
void waitprof_live_exit(void);
u64 waitprof_live_bytes(void);

#endif /* _WAITPROF_LIVE_H */
