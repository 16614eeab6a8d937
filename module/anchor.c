// SPDX-License-Identifier: GPL-2.0
/* PROBE: functions to be probed, in a file that ftrace may call from. */

#include <linux/compiler.h>
#include "tracker.h"

/**
 * waitprof_tracker_anchor() - do nothing
 *
 * To see whether the probe on it is reached.
 */
noinline void waitprof_tracker_anchor(void)
{
	barrier();
}

/**
 * waitprof_tracker_anchor_notrace() - the same, but ftrace does not call
 *
 * So the probe is a breakpoint, or a jump where the kernel makes it one.
 */
noinline notrace void waitprof_tracker_anchor_notrace(void)
{
	barrier();
}
