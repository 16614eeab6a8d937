/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The words and types that cross the files of waitprof.
 *
 * Wait		the time from a task leaving its CPU because it is not
 *		runnable until it runs again: asleep, then on the run queue
 * Call site	the first return address on the sleeper's stack outside the
 *		scheduler and the wait primitives
 * Window	from load or the last reset until now, less the time switched
 *		off; only time inside it counts
 * In flight	begun, not ended
 */
#ifndef _WAITPROF_H
#define _WAITPROF_H

#include <linux/types.h>

#define WAITPROF_NAME		"waitprof"
#define WAITPROF_VERSION	"0.1.0"
/* Of /proc/waitprof. Goes up when a field changes its place or its meaning. */
#define WAITPROF_FORMAT		1

/* Lengths of waits: bucket b counts those with floor(log2(us)) == b, the
 * first also what is shorter, the last also what is longer.
 */
#define WAITPROF_BUCKETS	32

/**
 * enum waitprof_class - the state that a task slept in
 * @WAITPROF_S: interruptible
 * @WAITPROF_D: uninterruptible
 * @WAITPROF_I: uninterruptible, but no load (idle kernel threads)
 * @WAITPROF_T: stopped
 * @WAITPROF_TRACED: stopped by a tracer, shown as t
 * @WAITPROF_P: parked
 * @WAITPROF_L: for a sleeping spinlock of PREEMPT_RT
 * @WAITPROF_F: frozen
 * @WAITPROF_CLASSES: how many there are
 */
enum waitprof_class {
	WAITPROF_S,
	WAITPROF_D,
	WAITPROF_I,
	WAITPROF_T,
	WAITPROF_TRACED,
	WAITPROF_P,
	WAITPROF_L,
	WAITPROF_F,
	WAITPROF_CLASSES
};

/* A kind is all of a row that is not its site: class, whether in_iowait was
 * set, and whether the task was a kernel thread.
 */
#define WAITPROF_KINDS		(WAITPROF_CLASSES * 4)
#define WAITPROF_KIND_IO	2u
#define WAITPROF_KIND_KERNEL	1u

static inline enum waitprof_class waitprof_kind_class(u32 kind)
{
	return kind / 4;
}

#endif /* _WAITPROF_H */
