// SPDX-License-Identifier: GPL-2.0
/* PROBE: a function to be probed, in a file that ftrace may call from. */

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
