/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PROBE: where the kernel is hooked, and what is lost without each hook.
 */
#ifndef _WAITPROF_PROBE_H
#define _WAITPROF_PROBE_H

#include <linux/types.h>

/**
 * enum waitprof_hook - who finds the site of a sleep
 * @WAITPROF_HOOK_KPROBE: a probe on the entry of schedule(), beforehand; the
 *	switch probe where that was not reached
 * @WAITPROF_HOOK_SWITCH: the switch probe
 */
enum waitprof_hook {
	WAITPROF_HOOK_KPROBE,
	WAITPROF_HOOK_SWITCH,
};

/**
 * struct waitprof_probe_state - what the probes are doing
 * @hook: the hook in use
 * @asked: the one that was asked for
 * @why: why it is another; NULL if it is not
 * @ftrace: ftrace calls at the entry of schedule()
 */
struct waitprof_probe_state {
	enum waitprof_hook hook;
	enum waitprof_hook asked;
	const char *why;
	bool ftrace;
};

int waitprof_probe_start(enum waitprof_hook hook, u64 *since);
void waitprof_probe_stop(void);
struct waitprof_probe_state waitprof_probe_state(void);
unsigned long waitprof_probe_missed(void);

#endif /* _WAITPROF_PROBE_H */
