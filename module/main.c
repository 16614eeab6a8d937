// SPDX-License-Identifier: GPL-2.0
/*
 * waitprof: where the machine's tasks sleep.
 *
 *	probe --> record --> aggregate --> report
 *
 *	probe.c		a probe on schedule() and one on sched_switch
 *	poll.c		which file ended a poll
 *	point.c		the entry of a function, by ftrace or a kprobe
 *	record.c	the two ends of a wait
 *	slot.c		the waits in progress
 *	site.c		which frame of its stack is the call site
 *	tracker.c	probes on functions that hand out and take back objects
 *	anchor.c	whether those probes are reached
 *	object.c	how many
 *	live.c		each of them
 *	path.c		call paths
 *	table.c		rows (site, class, tasks); cells per CPU that are added to
 *	snapshot.c	their sum at one moment
 *	report.c	/proc/waitprof
 *
 * What is not seen: a caller that left its frame by a tail call, a wait with
 * spinning alone, user space's own stacks.
 *
 * This file: the order of start and end, and the parameters.
 */

#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>
#include "control.h"
#include "live.h"
#include "object.h"
#include "path.h"
#include "point.h"
#include "primitives.h"
#include "record.h"
#include "report.h"
#include "site.h"
#include "slot.h"
#include "table.h"
#include "tracker.h"

static char *hook = "kprobe";
module_param(hook, charp, 0444);
MODULE_PARM_DESC(hook, "who finds the call site: kprobe (on schedule, beforehand) or switch (the sched_switch probe, at half the cost) (default: kprobe)");

static bool ftrace = true;
module_param(ftrace, bool, 0444);
MODULE_PARM_DESC(ftrace, "probe the entries of functions by ftrace where it can be, at a fifth of the cost; 0: by kprobes (default: 1)");

static bool poll = true;
module_param(poll, bool, 0444);
MODULE_PARM_DESC(poll, "count a poll or select at the poll method of the file that ended it; may be changed by writing poll on or poll off (default: 1)");

static unsigned int rows = WAITPROF_ROWS_DEFAULT;
module_param(rows, uint, 0444);
MODULE_PARM_DESC(rows, "rows of the report, 1 to 8192; each takes 592 bytes a CPU (default: 768)");

static unsigned int slots;
module_param(slots, uint, 0444);
MODULE_PARM_DESC(slots, "waits in progress at one time, 64 to 4194304, rounded up to a power of two; each takes 64 bytes; 0: one for 64 KiB of memory, at most 65536 (default: 0)");

static unsigned int alloc_paths = WAITPROF_PATHS_DEFAULT;
module_param(alloc_paths, uint, 0444);
MODULE_PARM_DESC(alloc_paths, "call paths of allocations, 1 to 16384; each takes 32 bytes a CPU and 216 once (default: 1024)");

static unsigned int alloc_depth = 4;
module_param(alloc_depth, uint, 0444);
MODULE_PARM_DESC(alloc_depth, "frames of such a path, 1 to 8 (default: 4)");

static unsigned int peak_batch = WAITPROF_BATCH_DEFAULT;
module_param(peak_batch, uint, 0444);
MODULE_PARM_DESC(peak_batch, "objects by which, for each CPU, a peak may be off, 1 to 65536; 1 is exact and slow (default: 64)");

static char *live = "count";
module_param(live, charp, 0444);
MODULE_PARM_DESC(live, "objects: count (as they come and go) or map (each is followed: live by path, failed allocations, frees of older objects; at twice the cost) (default: count)");

static unsigned int objects = WAITPROF_OBJECTS_DEFAULT;
module_param(objects, uint, 0444);
MODULE_PARM_DESC(objects, "with live=map, objects that can be followed, 1024 to 16777216, rounded up to a power of two; each takes 16 bytes (default: 131072)");

static unsigned int maxactive = WAITPROF_MAXACTIVE_DEFAULT;
module_param(maxactive, uint, 0444);
MODULE_PARM_DESC(maxactive, "with live=map, calls of an allocating function at one time, 16 to 65536 (default: 1024)");

static char *skip = "";
module_param(skip, charp, 0444);
MODULE_PARM_DESC(skip, "functions to skip as wait primitives, up to 32 names separated by commas (default: none)");

static bool check;
module_param(check, bool, 0444);
MODULE_PARM_DESC(check, "compare every walk of the stack with the kernel's unwinder, for tests: slow (default: N)");

static int __init waitprof_bound(const char *name, unsigned int value,
				 unsigned int least, unsigned int most)
{
	if (value >= least && value <= most)
		return 0;
	pr_err("%s=%u: must be %u to %u\n", name, value, least, most);
	return -EINVAL;
}

static int __init waitprof_params(enum waitprof_hook *h)
{
	if (!strcmp(hook, "kprobe")) {
		*h = WAITPROF_HOOK_KPROBE;
	} else if (!strcmp(hook, "switch")) {
		*h = WAITPROF_HOOK_SWITCH;
	} else {
		pr_err("hook=%s: must be kprobe or switch\n", hook);
		return -EINVAL;
	}
	if (strcmp(live, "count") && strcmp(live, "map")) {
		pr_err("live=%s: must be count or map\n", live);
		return -EINVAL;
	}
	if (waitprof_bound("rows", rows, WAITPROF_ROWS_MIN,
			   WAITPROF_ROWS_MAX) ||
	    (slots && waitprof_bound("slots", slots, WAITPROF_SLOTS_MIN,
				     WAITPROF_SLOTS_MAX)) ||
	    waitprof_bound("alloc_paths", alloc_paths, 1, WAITPROF_PATHS_MAX) ||
	    waitprof_bound("alloc_depth", alloc_depth, 1, WAITPROF_DEPTH_MAX) ||
	    waitprof_bound("peak_batch", peak_batch, 1, WAITPROF_BATCH_MAX) ||
	    waitprof_bound("objects", objects, WAITPROF_OBJECTS_MIN,
			   WAITPROF_OBJECTS_MAX) ||
	    waitprof_bound("maxactive", maxactive, WAITPROF_MAXACTIVE_MIN,
			   WAITPROF_MAXACTIVE_MAX))
		return -EINVAL;
	if (!waitprof_primitive_skip(skip)) {
		pr_err("skip: more than %u names\n", WAITPROF_SKIP_MAX);
		return -EINVAL;
	}
	return 0;
}

static int __init waitprof_init(void)
{
	enum waitprof_hook h;
	const char *what = "parameters";
	int err;

	err = waitprof_params(&h);
	if (err)
		return err;
	if (check)
		static_branch_enable(&waitprof_check);
	waitprof_point_ftrace(ftrace);

	what = "no memory for the tables";
	err = waitprof_table_init(rows, rows + alloc_paths);
	if (err)
		goto out_say;
	what = "cannot watch for modules that go";
	err = waitprof_site_init();
	if (err)
		goto out_table;
	what = "no memory for the slots";
	err = waitprof_slot_init(slots);
	if (err)
		goto out_site;
	what = "no memory for the call paths";
	err = waitprof_path_init(alloc_paths, alloc_depth);
	if (err)
		goto out_slot;
	what = "no memory for the objects";
	err = waitprof_object_init(peak_batch,
				   strcmp(live, "map") ? 0 : objects);
	if (err)
		goto out_path;
	what = "cannot watch for modules that come";
	err = waitprof_tracker_init(maxactive);
	if (err)
		goto out_object;
	what = "cannot probe sched_switch";
	err = waitprof_control_start(h, poll);
	if (err)
		goto out_tracker;
	what = "cannot make /proc/" WAITPROF_NAME;
	err = waitprof_report_init();
	if (err)
		goto out_control;
	return 0;

out_control:
	waitprof_control_stop();
out_tracker:
	waitprof_tracker_exit();
	waitprof_point_exit();
out_object:
	waitprof_object_exit();
out_path:
	waitprof_path_exit();
out_slot:
	waitprof_slot_exit();
out_site:
	waitprof_site_exit();
out_table:
	waitprof_table_exit();
out_say:
	pr_err("not loaded: %s (error %d)\n", what, err);
	return err;
}

static void __exit waitprof_exit(void)
{
	waitprof_report_exit();
	waitprof_control_stop();
	waitprof_tracker_exit();
	waitprof_point_exit();
	waitprof_object_exit();
	waitprof_path_exit();
	waitprof_slot_exit();
	waitprof_site_exit();
	waitprof_table_exit();
}

module_init(waitprof_init);
module_exit(waitprof_exit);

MODULE_LICENSE("GPL");
MODULE_AUTHOR("The waitprof developers");
MODULE_DESCRIPTION("Where tasks sleep, by call site: jiffies, ns, count, maximum, in flight");
MODULE_VERSION(WAITPROF_VERSION);
