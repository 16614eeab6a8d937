/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PROBE: a function of the kernel with a kprobe or a return probe on it.
 */
#ifndef _WAITPROF_POINT_H
#define _WAITPROF_POINT_H

#include <linux/kprobes.h>
#include <linux/types.h>

struct module;

/**
 * struct waitprof_point - a function with a probe on it
 * @symbol: its name, module:name if it has to be that module's
 * @handler: called at its entry; NULL: a return probe, with the next four
 * @entry: called at its entry
 * @ret: called at its return
 * @data_size: bytes that the first leaves to the second
 * @maxactive: calls of the function at one time
 * @probe: of which a kprobe is the first part; zeroed before each registration
 * @attached: it is registered
 * @err: why it is not, a negative errno
 * @missed: hits lost in earlier registrations
 */
struct waitprof_point {
	const char *symbol;
	kprobe_pre_handler_t handler;
	kretprobe_handler_t entry;
	kretprobe_handler_t ret;
	size_t data_size;
	int maxactive;
	struct kretprobe probe;
	bool attached;
	int err;
	unsigned long missed;
};

int waitprof_point_attach(struct waitprof_point *point);
void waitprof_point_detach(struct waitprof_point *point);
bool waitprof_point_leaves(struct waitprof_point *point, unsigned long event,
			   struct module *mod);
unsigned long waitprof_point_missed(const struct waitprof_point *point);

#endif /* _WAITPROF_POINT_H */
