// SPDX-License-Identifier: GPL-2.0
/*
 * waitprof: where the machine's tasks sleep.
 *
 *	probe --> record --> aggregate --> report
 *
 *	probe.c		a kprobe on schedule() and a probe on sched_switch
 *	record.c	the two ends of a wait
 *	slot.c		the waits in progress
 *	site.c		which frame of its stack is the call site
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
#include "primitives.h"
#include "record.h"
#include "report.h"
#include "site.h"
#include "slot.h"
#include "table.h"

static char *hook = "kprobe";
module_param(hook, charp, 0444);
MODULE_PARM_DESC(hook, "who finds the call site: kprobe (on schedule, beforehand) or switch (the sched_switch probe, at half the cost) (default: kprobe)");

static unsigned int rows = WAITPROF_ROWS_DEFAULT;
module_param(rows, uint, 0444);
MODULE_PARM_DESC(rows, "rows of the report, 1 to 8192; each takes 592 bytes a CPU (default: 768)");

static unsigned int slots;
module_param(slots, uint, 0444);
MODULE_PARM_DESC(slots, "waits in progress at one time, 64 to 4194304, rounded up to a power of two; each takes 64 bytes; 0: one for 64 KiB of memory, at most 65536 (default: 0)");

static char *skip = "";
module_param(skip, charp, 0444);
MODULE_PARM_DESC(skip, "functions to skip as wait primitives, up to 32 names separated by commas (default: none)");

static bool check;
module_param(check, bool, 0444);
MODULE_PARM_DESC(check, "compare every walk of the stack with the kernel's unwinder, for tests: slow (default: N)");

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
	if (rows < WAITPROF_ROWS_MIN || rows > WAITPROF_ROWS_MAX) {
		pr_err("rows=%u: must be %u to %u\n", rows, WAITPROF_ROWS_MIN,
		       WAITPROF_ROWS_MAX);
		return -EINVAL;
	}
	if (slots && (slots < WAITPROF_SLOTS_MIN || slots > WAITPROF_SLOTS_MAX)) {
		pr_err("slots=%u: must be 0 or %u to %u\n", slots,
		       WAITPROF_SLOTS_MIN, WAITPROF_SLOTS_MAX);
		return -EINVAL;
	}
	if (!waitprof_primitive_skip(skip)) {
		pr_err("skip: too many names\n");
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

	what = "no memory for the tables";
	err = waitprof_table_init(rows);
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
	waitprof_record_init();
	what = "cannot probe sched_switch";
	err = waitprof_control_start(h);
	if (err)
		goto out_slot;
	what = "cannot make /proc/" WAITPROF_NAME;
	err = waitprof_report_init();
	if (err)
		goto out_control;
	return 0;

out_control:
	waitprof_control_stop();
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
