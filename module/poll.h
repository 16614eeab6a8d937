/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PROBE: which file ended a poll or select.
 *
 * pollwake() is called for each file that tells of an event. Of those that find
 * their poller asleep the first is remembered in the slot of the wait, and when
 * the wait ends it counts at the poll method of that file. What was ended by a
 * time-out or a signal stays with the waiting function.
 */
#ifndef _WAITPROF_POLL_H
#define _WAITPROF_POLL_H

#include <linux/types.h>

/**
 * struct waitprof_poll_state - what is known of the probe on pollwake()
 * @on: it is in place
 * @reached: and calls come through
 * @err: why it is not in place though it was asked for, a negative errno
 * @early: wake-ups that found their poller not asleep in poll: he does not go to
 *	sleep then, or was just about to
 * @missed: wake-ups that the probe could not take
 *
 * The last two since the module was loaded.
 */
struct waitprof_poll_state {
	bool on;
	bool reached;
	int err;
	u64 early;
	u64 missed;
};

int waitprof_poll_start(void);
void waitprof_poll_stop(void);
struct waitprof_poll_state waitprof_poll_state(void);

#endif /* _WAITPROF_POLL_H */
