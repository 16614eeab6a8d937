/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The state of the whole, and the commands that change it. One at a time: a
 * mutex is held through each call.
 */
#ifndef _WAITPROF_CONTROL_H
#define _WAITPROF_CONTROL_H

#include <linux/types.h>
#include "probe.h"

/* Longer is no command. */
#define WAITPROF_COMMAND_MAX	320

struct waitprof_snapshot;

int waitprof_control_start(enum waitprof_hook hook, bool poll);
void waitprof_control_stop(void);
int waitprof_control_read(struct waitprof_snapshot *snap);
bool waitprof_control_resets(const char *cmd, size_t len);
int waitprof_control_command(char *cmd, size_t len,
			     struct waitprof_snapshot *snap);

#endif /* _WAITPROF_CONTROL_H */
