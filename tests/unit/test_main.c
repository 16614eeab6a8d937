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
	ftrace = true;
	poll = true;
	rows = 32;
	slots = 64;
	alloc_paths = 64;
	alloc_depth = 4;
	peak_batch = 64;
	live = "count";
	objects = WAITPROF_OBJECTS_MIN;
	maxactive = 16;
	skip = "";
	check = false;
}

static bool clean(void)
{
	return !shim_allocs && !shim_notifier && !machine_probing &&
	       !shim_proc_entry.ops && shim_unprobed();
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
	static const struct {
		const char *name;
		unsigned int *param;
		unsigned int least, most;
	} others[] = {
		{ "alloc_paths", &alloc_paths, 1, WAITPROF_PATHS_MAX },
		{ "alloc_depth", &alloc_depth, 1, WAITPROF_DEPTH_MAX },
		{ "peak_batch", &peak_batch, 1, WAITPROF_BATCH_MAX },
		{ "objects", &objects, WAITPROF_OBJECTS_MIN,
		  WAITPROF_OBJECTS_MAX },
		{ "maxactive", &maxactive, WAITPROF_MAXACTIVE_MIN,
		  WAITPROF_MAXACTIVE_MAX },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bounds); i++) {
		fresh();
		rows = bounds[i].rows;
		slots = bounds[i].slots;
		is(load_and_unload(), bounds[i].err, "rows=%u slots=%u", rows,
		   slots);
	}
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		int *p = NULL, want = 0;
		unsigned int j;

		for (j = 0; j < 6; j++) {
			static const char * const at[] = {
				"least", "most", "0", "most + 1", "all ones",
				"2^31"
			};
			const unsigned int values[] = {
				others[i].least, others[i].most, 0,
				others[i].most + 1, ~0u, 1u << 31
			};

			fresh();
			p = (int *)others[i].param;
			*p = values[j];
			want = j < 2 ? 0 : -EINVAL;
			is(load_and_unload(), want, "%s: %s", others[i].name,
			   at[j]);
		}
		if (others[i].least > 1) {
			fresh();
			*p = others[i].least - 1;
			is(load_and_unload(), -EINVAL, "%s: least - 1",
			   others[i].name);
		}
	}
	for (i = 0; i < 6; i++) {
		static char * const lives[] = {
			"count", "map", "", "maps", "Map", "map\n"
		};

		fresh();
		live = lives[i];
		is(load_and_unload(), i < 2 ? 0 : -EINVAL, "live=%s%s",
		   i == 5 ? "map and newline" : live, "");
	}
	fresh();
	live = "map";
	waitprof_init();
	ok(waitprof_object_mapped(), "live= gets there");
	is(waitprof_live_bytes(), 16 * WAITPROF_OBJECTS_MIN, "as does objects=");
	is(waitprof_trackers[0].alloc.maxactive, 16, "and maxactive=");
	waitprof_exit();
	fresh();
	waitprof_init();
	ok(!waitprof_object_mapped() && !waitprof_live_bytes(),
	   "live=count has no map");
	is(waitprof_batch_most, 63, "peak_batch= gets there");
	is(waitprof_paths_end(), 65, "alloc_paths= gets there");
	is(waitprof_path_depth, 4, "alloc_depth= gets there");
	is(waitprof_nsites(), 32 + 64 + WAITPROF_SITES_FIXED,
	   "sites for rows and paths");
	waitprof_exit();

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
	poll = false;
	waitprof_init();
	ok(!waitprof_poll_state().on, "poll=0 gets there");
	waitprof_exit();
	fresh();
	hook = "switch";
	waitprof_init();
	ok(waitprof_poll_state().on, "poll=1 is the default");
	is(machine_probe.hook, WAITPROF_HOOK_SWITCH, "the hook gets there");
	waitprof_exit();

	for (i = 0; i < 4; i++) {
		fresh();
		ftrace = i & 1;
		live = i & 2 ? "map" : "count";
		waitprof_init();
		is(!!shim_ftrace, ftrace, "ftrace=%u gets there, live=%s", ftrace,
		   live);
		is(shim_filters, !ftrace ? 0 : 2 + (i & 2 ? 2 : 4),
		   "ftrace=%u, live=%s: at which functions it calls", ftrace, live);
		waitprof_exit();
		ok(clean(), "ftrace=%u, live=%s: nothing is left", ftrace, live);
	}

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
	ok((u64)(WAITPROF_SITES_FIXED + WAITPROF_ROWS_MAX + WAITPROF_PATHS_MAX) *
	   WAITPROF_KINDS <= ~0u, "the last key fits");
	ok(WAITPROF_PATHS_MAX < 1u << 31, "a path is no root");
	ok(WAITPROF_TRACKERS - 1 <= WAITPROF_LIVE_TRACKER, "a tag has room");
	/* The words of the longest command. */
	ok(strlen("track") + 1 + WAITPROF_TRACKER_NAME - 1 + 1 +
	   WAITPROF_TRACKER_SYMBOL - 1 + 1 + WAITPROF_TRACKER_SYMBOL - 1 + 1 <=
	   WAITPROF_COMMAND_MAX, "the longest command may be written");
}

static void test_failures(void)
{
	int left, failed = 0;

	/* tables, two generations a CPU, the slots, the paths, two generations
	 * a CPU, live objects; then it works
	 */
	for (left = 0; left < 3 + 2 * SHIM_CPUS + 1 + 1 + 2 * SHIM_CPUS + 1;
	     left++) {
		fresh();
		live = "map";
		shim_alloc_left = left;
		failed += load_and_unload() == -ENOMEM;
		shim_alloc_left = -1;
	}
	is(failed, left, "each allocation that fails ends it, cleanly");
	fresh();
	live = "map";
	shim_alloc_left = left;
	is(load_and_unload(), 0, "with one more it starts");
	shim_alloc_left = -1;

	for (left = failed = 0; left < 12; left++) {
		fresh();
		shim_failing = 1 << left;
		failed += waitprof_init() != 0;
		shim_failing = 0;
		waitprof_exit();
		failed += !clean();
	}
	is(failed, 0, "each probe of an object may fail, and leaves nothing");

	fresh();
	shim_notifier_err = -EEXIST;
	is(load_and_unload(), -EEXIST, "no notifier");
	fresh();
	shim_notifiers_left = 1;
	is(load_and_unload(), -EEXIST, "no second notifier");
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
	ok(!waitprof_table_init(WAITPROF_ROWS_DEFAULT, WAITPROF_ROWS_DEFAULT), "the default table");
	a_cpu = waitprof_cells_size();
	ok(a_cpu <= 256 << 10, "a CPU and generation takes %llu KiB at most",
	   a_cpu >> 10);
	waitprof_table_exit();
	is(sizeof(struct waitprof_cell) * 2, 592,
	   "a row takes on each CPU what rows= says");
	fresh();
	ok(!waitprof_path_init(WAITPROF_PATHS_DEFAULT, 4), "the default paths");
	a_cpu = waitprof_object_cells_size();
	ok(a_cpu <= 32 << 10, "a CPU and generation takes %llu KiB at most",
	   a_cpu >> 10);
	waitprof_path_exit();
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
