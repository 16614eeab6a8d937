// SPDX-License-Identifier: GPL-2.0
/* Start and end: the bounds of the parameters, and each start that fails. */

#include "machine.h"
#include "control.c"
#include "report.c"
#include "main.c"

/* As a module that has just been read from its file. */
static void fresh(void)
{
	machine_reset();
	memset(&waitprof_control, 0, sizeof(waitprof_control));
	waitprof_skips = 0;
	hook = "kprobe";
	rows = 32;
	slots = 64;
	skip = "";
	check = false;
}

static bool clean(void)
{
	return !shim_allocs && !shim_notifier && !machine_probing &&
	       !shim_proc_entry.ops;
}

static int load_and_unload(void)
{
	int err = waitprof_init();

	if (!err)
		waitprof_exit();
	return clean() ? err : 1;
}

static void test_params(void)
{
	static const struct {
		unsigned int rows, slots;
		int err;
	} bounds[] = {
		{ WAITPROF_ROWS_MIN, 0 }, { WAITPROF_ROWS_MAX, 64 },
		{ 0, 0, -EINVAL }, { WAITPROF_ROWS_MAX + 1, 0, -EINVAL },
		{ ~0u, 0, -EINVAL }, { 1u << 31, 0, -EINVAL },
		{ 8, WAITPROF_SLOTS_MIN }, { 8, WAITPROF_SLOTS_MIN + 1 },
		{ 8, 1, -EINVAL }, { 8, WAITPROF_SLOTS_MIN - 1, -EINVAL },
		{ 8, WAITPROF_SLOTS_MAX + 1, -EINVAL }, { 8, ~0u, -EINVAL },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bounds); i++) {
		fresh();
		rows = bounds[i].rows;
		slots = bounds[i].slots;
		is(load_and_unload(), bounds[i].err, "rows=%u slots=%u", rows,
		   slots);
	}
	for (i = 0; i < 6; i++) {
		static char * const hooks[] = {
			"kprobe", "switch", "", "kprobes", "Switch", "kprobe\n"
		};

		fresh();
		hook = hooks[i];
		is(load_and_unload(), i < 2 ? 0 : -EINVAL, "hook=%s%s",
		   i == 5 ? "kprobe and newline" : hook, "");
	}
	fresh();
	hook = "switch";
	waitprof_init();
	is(machine_probe.hook, WAITPROF_HOOK_SWITCH, "the hook gets there");
	waitprof_exit();

	fresh();
	{
		static char ok_list[64], over[128];

		for (i = 0; i < 32; i++)
			strcat(ok_list, i ? ",a" : "a");
		skip = ok_list;
		is(load_and_unload(), 0, "skip= 32 names");
		fresh();
		for (i = 0; i < 33; i++)
			strcat(over, i ? ",a" : "a");
		skip = over;
		is(load_and_unload(), -EINVAL, "skip= 33 names");
	}
	fresh();
	check = true;
	waitprof_init();
	ok(waitprof_check.on, "check= switches the check on");
	waitprof_exit();
}

static void test_bounds(void)
{
	/* A row's number and a site's are kept in u16 and in keys of u32. */
	ok(WAITPROF_ROWS_FIXED + WAITPROF_ROWS_MAX - 1 <= 0xffff,
	   "the last row fits into a site's rows");
	ok((u64)(WAITPROF_SITES_FIXED + WAITPROF_ROWS_MAX) * WAITPROF_KINDS <=
	   ~0u, "the last key fits");
}

static void test_failures(void)
{
	int left, failed = 0;

	/* tables, two generations a CPU, the slots; then it works */
	for (left = 0; left < 3 + 2 * SHIM_CPUS + 1; left++) {
		fresh();
		shim_alloc_left = left;
		failed += load_and_unload() == -ENOMEM;
		shim_alloc_left = -1;
	}
	is(failed, left, "each allocation that fails ends it, cleanly");
	fresh();
	shim_alloc_left = left;
	is(load_and_unload(), 0, "with one more it starts");
	shim_alloc_left = -1;

	fresh();
	shim_notifier_err = -EEXIST;
	is(load_and_unload(), -EEXIST, "no notifier");
	shim_notifier_err = 0;
	fresh();
	machine_start_err = -ENOENT;
	is(load_and_unload(), -ENOENT, "no probe");
	machine_start_err = 0;
	fresh();
	shim_proc_fails = true;
	is(load_and_unload(), -ENOMEM, "no /proc entry");
	shim_proc_fails = false;
	fresh();
	is(load_and_unload(), 0, "and then it starts");
}

static void test_defaults(void)
{
	u64 a_cpu;

	fresh();
	ok(!waitprof_table_init(WAITPROF_ROWS_DEFAULT), "the default table");
	a_cpu = waitprof_cells_size();
	ok(a_cpu <= 256 << 10, "a CPU and generation takes %llu KiB at most",
	   a_cpu >> 10);
	waitprof_table_exit();
	is(sizeof(struct waitprof_cell) * 2, 592,
	   "a row takes on each CPU what rows= says");
}

int main(void)
{
	world_init();
	shim_capable = shim_perfmon = true;
	test_params();
	test_bounds();
	test_failures();
	test_defaults();
	free(machine_idle.stack.word);
	return tap_done();
}
