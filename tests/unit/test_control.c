// SPDX-License-Identifier: GPL-2.0
/* Commands. */

#include "machine.h"
#include "control.c"

static struct sleeper a, b;

static void load(void)
{
	machine_load(32);
	memset(&waitprof_control, 0, sizeof(waitprof_control));
	sleeper_init(&a, 101);
	sleeper_init(&b, 102);
	sleeper_at(&a, PIPE_READ);
	sleeper_at(&b, BREAD);
	shim_clock = 1000;
	shim_real = 1000000;
	if (waitprof_control_start(WAITPROF_HOOK_KPROBE, false))
		abort();
}

static void unload(void)
{
	waitprof_control_stop();
	machine_unload();
}

/* In memory of exactly the room that it may use, so that more is seen. */
static int command_len(const char *cmd, size_t len,
		       struct waitprof_snapshot *snap)
{
	char *p = malloc(len + 1);
	int ret;

	memcpy(p, cmd, len);
	p[len] = 'x';
	ret = waitprof_control_command(p, len, snap);
	free(p);
	return ret;
}

static int command(const char *cmd, struct waitprof_snapshot *snap)
{
	return command_len(cmd, strlen(cmd), snap);
}

/* All that a command could change. */
struct state {
	struct waitprof_control control;
	struct waitprof_cells cells[SHIM_CPUS];
	struct {
		bool used, attached;
		u32 serial;
		char name[WAITPROF_TRACKER_NAME];
		char note[2 * WAITPROF_TRACKER_SYMBOL];
	} tracker[WAITPROF_TRACKERS];
	unsigned int kprobes;
	u64 total, waits;
	unsigned int in_flight, starts;
	bool probing;
};

static struct state state(void)
{
	const struct kprobe *p;
	struct state s;
	unsigned int i;
	int cpu;

	memset(&s, 0, sizeof(s));
	s.control = waitprof_control;
	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		s.cells[cpu] = *waitprof_cells(cpu, false);
	for (i = 0; i < WAITPROF_TRACKERS; i++) {
		const struct waitprof_tracker *t = &waitprof_trackers[i];

		if (!t->used)
			continue;
		s.tracker[i].used = true;
		s.tracker[i].attached = t->alloc.attached;
		s.tracker[i].serial = t->serial;
		strcpy(s.tracker[i].name, t->name);
		strcpy(s.tracker[i].note, t->note);
	}
	for (p = shim_kprobes; p; p = p->shim_next)
		s.kprobes++;
	s.total = COUNTED(total_ns);
	s.waits = WAITS;
	s.in_flight = in_flight();
	s.starts = machine_starts;
	s.probing = machine_probing;
	return s;
}

static bool same(struct state x)
{
	struct state y = state();

	return !memcmp(&x.control, &y.control, sizeof(x.control)) &&
	       !memcmp(x.cells, y.cells, sizeof(x.cells)) &&
	       !memcmp(x.tracker, y.tracker, sizeof(x.tracker)) &&
	       x.kprobes == y.kprobes &&
	       x.total == y.total && x.waits == y.waits &&
	       x.in_flight == y.in_flight && x.starts == y.starts &&
	       x.probing == y.probing;
}

static void test_malformed(void)
{
	static const struct {
		const char *cmd;
		size_t len;
	} bad[] = {
#define BAD(text)	{ text, sizeof(text) - 1 }
		BAD(""), BAD("\n"), BAD("\n\n"), BAD("\0"), BAD("\0\n"),
		BAD(" "), BAD("r"), BAD("rese"), BAD("resett"), BAD("resets\n"),
		BAD("reset\n\n"), BAD("reset \n"), BAD(" reset"), BAD("\nreset"),
		BAD("reset\0"), BAD("reset\0\n"), BAD("reset\n\0"), BAD("reset\r\n"),
		BAD("Reset"), BAD("RESET"), BAD("reset 1"), BAD("reset,reset"),
		BAD("reset\nreset"), BAD("reset\noff\n"), BAD("00"), BAD("0 "),
		BAD("0\n\n"), BAD("0\0"), BAD("1"), BAD("-0"), BAD("+0"), BAD("0x0"),
		BAD("o"), BAD("of"), BAD("offf"), BAD("off "), BAD("on\n\n"),
		BAD("on\0"), BAD("onn"), BAD("oN"), BAD("0n"), BAD("on off"),
		BAD("on\t"), BAD("\xff\xff"), BAD("%s%n"), BAD("track"),
		BAD("filter"), BAD("poll"),
		/* words, and blanks between them */
		BAD("track "), BAD("track a"), BAD("track a "), BAD("track a\n"),
		BAD("track  a site_00"), BAD("track a  site_00"),
		BAD("track a site_00  site_01"), BAD("track a site_00 "),
		BAD(" track a site_00"), BAD("track a site_00 \n"),
		BAD("track a site_00 site_01 "), BAD("track\ta site_00"),
		BAD("track a\tsite_00"), BAD("track a site_00\n\n"),
		BAD("track a site_00 site_01 site_02"), BAD("track a   "),
		BAD("track    "), BAD("   "), BAD("track a site_00\0"),
		BAD("track a\0site_00"), BAD("Track a site_00"),
		BAD("tracks a site_00"), BAD("trac a site_00"),
		BAD("reset a site_00"), BAD("on a site_00 site_01"),
		BAD("untrack"), BAD("untrack "), BAD("untrack  bio"),
		BAD("untrack bio "), BAD("untrack bio bio"), BAD(" untrack bio"),
		BAD("untrack bio\0"), BAD("Untrack bio"),
		/* the letters of a name */
		BAD("track a/b site_00"), BAD("track a:b site_00"),
		BAD("track a%s site_00"), BAD("track \xe4 site_00"),
		BAD("track a\x7f site_00"), BAD("track a\nb site_00"),
		/* and of a symbol */
		BAD("track a site-00"), BAD("track a site_00 site-01"),
		BAD("track a site_00+4"), BAD("track a \xc0\xe4"),
		BAD("track a site_00\nb"), BAD("track a *"),
		BAD("track a :"), BAD("track a :site_00"), BAD("track a wpmod:"),
		BAD("track a wpmod::mod_alloc"), BAD("track a a:b:c"),
		BAD("track a :wpmod:mod_alloc"), BAD("track a wpmod:mod_alloc:"),
		BAD("track a site_00 :"), BAD("track a site_00 :site_01"),
		BAD("track a site_00 wpmod:"), BAD("track a site_00 a:b:c"),
	};
	struct waitprof_snapshot *snap;
	char many[WAITPROF_COMMAND_MAX];
	char text[512];
	unsigned int i, accepted = 0, changed = 0, filled = 0;

	load();
	snap = waitprof_snapshot_alloc();
	sleep_on(&a, 0, 2000, TASK_INTERRUPTIBLE);
	sleep_on(&b, 0, 2000, TASK_INTERRUPTIBLE);
	wake_on(&b, 0, 2500);
	shim_clock = 9000;
	for (i = 0; i < 2 * ARRAY_SIZE(bad); i++) {
		const char *cmd = bad[i / 2].cmd;
		struct state before;
		size_t len = bad[i / 2].len;
		int ret;

		if (i & 1)	/* half of them while off */
			command("off", NULL);
		before = state();
		ret = command_len(cmd, len, snap);
		if (ret != -EINVAL) {
			printf("# \"%s\": %d\n", cmd, ret);
			accepted++;
		}
		changed += !same(before);
		filled += snap->nsorted || snap->closed;
		command("on", NULL);
	}
	is(accepted, 0, "D3: what is no command is refused");
	is(changed, 0, "D3: and changes nothing");
	is(filled, 0, "D3: nor the reader's snapshot");

	/* A command in front, and then too much. */
	accepted = 0;
	for (i = 0; i < 256; i++) {
		memset(many, i, sizeof(many));
		accepted += command_len(many, sizeof(many), snap) != -EINVAL;
		memcpy(many, "reset\n", 6);
		accepted += command_len(many, sizeof(many), snap) != -EINVAL;
		memcpy(many, "off", 3);
		accepted += i != '\n' && command_len(many, 4, snap) != -EINVAL;
	}
	is(accepted, 0, "D3: a command with more behind it is refused");
	ok(machine_probing, "D3: and not done");

	/* Every length, just short enough and too long. */
	accepted = 0;
	sprintf(text, "track %0*d site_00", (int)WAITPROF_TRACKER_NAME, 0);
	is(command(text, NULL), -EINVAL, "D3: a name too long");
	sprintf(text, "track %0*d site_00", (int)WAITPROF_TRACKER_NAME - 1, 0);
	is(command(text, NULL), 0, "the longest name");
	is(command(text, NULL), -EEXIST, "is kept whole");
	sprintf(text, "untrack %0*d", (int)WAITPROF_TRACKER_NAME - 1, 0);
	is(command(text, NULL), 0, "and found again");
	for (i = 0; i < 2; i++) {
		const char *first = i ? "site_00 " : "";

		sprintf(text, "track a %s%0*d", first,
			(int)WAITPROF_TRACKER_SYMBOL, 0);
		is(command(text, NULL), -EINVAL, "D3: symbol %u too long", i);
		sprintf(text, "track a %s%0*d", first,
			(int)WAITPROF_TRACKER_SYMBOL - 1, 0);
		is(command(text, NULL), -ENOENT, "the longest symbol %u", i);
		sprintf(text, "track a %sm:%0*d", first,
			(int)WAITPROF_TRACKER_SYMBOL - 2, 0);
		is(command(text, NULL), -EINVAL,
		   "D3: symbol %u of a module too long", i);
		sprintf(text, "track a %sm:%0*d", first,
			(int)WAITPROF_TRACKER_SYMBOL - 3, 0);
		is(command(text, NULL), 0, "the longest symbol %u of a module",
		   i);
		is(command("untrack a", NULL), 0, "no longer, %u", i);
	}
	waitprof_snapshot_free(snap);
	unload();
}

static void test_reset(void)
{
	static const char * const cmds[] = { "reset", "reset\n", "0", "0\n" };
	struct waitprof_snapshot *snap;
	unsigned int i;
	u32 row;

	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		int len = strcspn(cmds[i], "\n");
		const char *nl = cmds[i][len] ? " and newline" : "";

		load();
		row = row_of(PIPE_READ, WAITPROF_S, 0);
		sleep_on(&a, 0, 2000, TASK_INTERRUPTIBLE);
		wake_on(&a, 0, 2500);
		sleep_on(&b, 0, 2000, TASK_INTERRUPTIBLE);
		shim_clock = 9000;
		is(command(cmds[i], NULL), 0, "%.*s%s", len, cmds[i], nl);
		is(WAITS, 0, "%.*s%s: a new window", len, cmds[i], nl);
		is(in_flight(), 1, "%.*s%s: waits go on", len, cmds[i], nl);
		is(waitprof_control.resets, 1, "%.*s%s: counted", len, cmds[i],
		   nl);

		sleep_on(&a, 0, 9100, TASK_INTERRUPTIBLE);
		wake_on(&a, 0, 9150);
		shim_clock = 10000;
		shim_real = 2000000;
		snap = waitprof_snapshot_alloc();
		is(command(cmds[i], snap), 1,
		   "%.*s%s: for a reader, gives the window that it closes", len,
		   cmds[i], nl);
		is(sum_of(snap, row)->total_ns, 50, "%.*s%s: its waits", len,
		   cmds[i], nl);
		is(snap->window.ns, 1000, "%.*s%s: its length", len, cmds[i], nl);
		is(snap->window.resets, 1, "%.*s%s: its number", len, cmds[i], nl);
		is(snap->window.end, 10000, "%.*s%s: its end", len, cmds[i], nl);
		is(snap->window.realtime, 2000000, "%.*s%s: the same by day", len,
		   cmds[i], nl);
		is(waitprof_control.resets, 2, "%.*s%s: and counts", len,
		   cmds[i], nl);
		ok(!waitprof_control.lock.locked, "%.*s%s: unlocked", len,
		   cmds[i], nl);
		waitprof_snapshot_free(snap);
		unload();
	}
}

static struct waitprof_window window_at(u64 now)
{
	struct waitprof_snapshot *snap = waitprof_snapshot_alloc();
	struct waitprof_window w;

	shim_clock = now;
	if (waitprof_control_read(snap))
		abort();
	w = snap->window;
	waitprof_snapshot_free(snap);
	return w;
}

static void test_on_off(const char *on, const char *off)
{
	struct waitprof_window w;
	struct state before;
	unsigned int starts;

	load();
	ok(machine_probing, "on from the start");
	is(machine_probe.asked, WAITPROF_HOOK_KPROBE, "the hook asked for");
	w = window_at(4000);
	ok(w.on && w.ns == 3000 && !w.resets, "the window's length");

	sleep_on(&a, 0, 5000, TASK_INTERRUPTIBLE);
	wake_on(&a, 0, 5300);
	sleep_on(&a, 0, 5500, TASK_INTERRUPTIBLE);
	sleep_on(&b, 0, 5600, TASK_INTERRUPTIBLE);
	shim_clock = 6000;
	is(command(off, NULL), 0, "off");
	ok(!machine_probing, "no probe is left");
	is(in_flight(), 0, "nor a wait in flight");
	w = window_at(8000);
	ok(!w.on, "the reader sees that it is off");
	is(w.ns, 5000, "the window's clock stands");
	is(w.cut, 2, "the waits that were cut");
	is(w.cut_ns, 900, "and their time");
	is(WAITS, 1, "what was counted is still there");
	before = state();
	is(command(off, NULL), 0, "off again");
	ok(same(before), "is no change");

	starts = machine_starts;
	shim_clock = 9000;
	a.t.__state = TASK_INTERRUPTIBLE;
	a.t.on_rq = 0;
	a.t.shim_next = NULL;
	shim_tasks = &a.t;
	is(command(on, NULL), 0, "on");
	is(machine_starts, starts + 1, "the probes are back");
	is(in_flight(), 1, "who is asleep waits from now on");
	w = window_at(9400);
	ok(w.on && w.ns == 5400, "the window goes on");
	is(w.cut, 2, "what was cut stays counted");
	before = state();
	is(command(on, NULL), 0, "on again");
	ok(same(before), "is no change");

	wake_on(&a, 0, 9500);
	is(COUNTED(total_ns), 300 + 500, "its wait is counted");

	shim_clock = 10000;
	command(off, NULL);
	shim_clock = 11000;
	is(command("reset", NULL), 0, "reset while off");
	w = window_at(12000);
	ok(!w.on && !w.ns && !w.cut && !w.cut_ns && w.resets == 1,
	   "an empty window");
	ok(!machine_probing, "still off");
	shim_clock = 13000;
	command(on, NULL);
	w = window_at(13500);
	is(w.ns, 500, "which begins when it is on");

	shim_clock = 14000;
	command(off, NULL);
	machine_start_err = -ENOENT;
	before = state();
	is(command(on, NULL), -ENOENT, "on that fails");
	ok(same(before), "changes nothing");
	machine_start_err = 0;
	unload();
	ok(!machine_probing, "none is left at the end");
}

/* Hits that the kprobe missed are the window's. */
static void test_missed(void)
{
	machine_missed = 4;	/* before it was asked for */
	load();
	is(window_at(2000).missed, 0, "missed: none yet");
	machine_missed = 9;
	is(window_at(2000).missed, 5, "missed: in this window");
	command("off", NULL);
	is(window_at(2000).missed, 5, "missed: also while off");
	command("reset", NULL);
	is(window_at(2000).missed, 0, "missed: not in the next");
	command("on", NULL);
	machine_missed = 11;
	is(window_at(2000).missed, 2, "missed: which has its own");
	unload();
	machine_missed = 0;
}

static void test_signal(void)
{
	struct waitprof_snapshot *snap;
	struct state before;

	load();
	snap = waitprof_snapshot_alloc();
	before = state();
	shim_signal = true;
	is(command("reset", snap), -EINTR, "a signal comes first: reset");
	is(command("off", snap), -EINTR, "off");
	is(command("reset ", snap), -EINVAL, "what has no words is none before it");
	is(waitprof_control_read(snap), -EINTR, "a read");
	shim_signal = false;
	ok(same(before), "nothing has changed");
	waitprof_snapshot_free(snap);
	unload();
}

static void test_start(void)
{
	machine_load(32);
	memset(&waitprof_control, 0, sizeof(waitprof_control));
	machine_start_err = -EINVAL;
	is(waitprof_control_start(WAITPROF_HOOK_SWITCH, false), -EINVAL,
	   "a start that fails");
	ok(!waitprof_control.on && !waitprof_control.lock.locked,
	   "leaves nothing on");
	machine_start_err = 0;
	waitprof_control_stop();
	machine_unload();
}

/* What track and untrack do is in test_object.c: here is what they say. */
static void test_track(void)
{
	struct state before;
	char text[64];
	unsigned int i;

	load();
	before = state();
	is(command("untrack nobody", NULL), -ENOENT, "untrack: no such name");
	is(command("untrack a:b", NULL), -ENOENT, "untrack: that cannot be one");
	is(command("untrack bio\n\n", NULL), -ENOENT, "untrack: one newline ends it");
	is(command("track a nowhere", NULL), -ENOENT, "track: no such function");
	is(command("track a site_00 nowhere", NULL), -ENOENT,
	   "track: no second one");
	is(command("track bio site_00", NULL), -EEXIST, "track: one built in");
	ok(same(before), "nothing has changed");
	is(command("track a.b-c_9 site_00", NULL), 0, "track");
	is(command("track A site_00 site_01\n", NULL), 0,
	   "track: two functions, and a newline");
	is(command("track m wpmod:mod_alloc wpmod:mod_free", NULL), 0,
	   "track: a module's");
	is(command("track d mutex_lock.constprop.0", NULL), -ENOENT,
	   "track: dots are letters of a symbol");
	is(command("track d __mutex_lock.constprop.0", NULL), 0,
	   "track: of this one");
	is(command("track bio site_00", NULL), -EEXIST, "track: taken");
	is(command("track a.b-c_9 site_03", NULL), -EEXIST, "track: taken, too");
	is(waitprof_trackers[4].paired + 2 * waitprof_trackers[5].paired, 2,
	   "track: with and without a second function");

	is(command("off", NULL), 0, "off");
	is(command("track off site_04", NULL), 0, "track while off");
	is(command("track off site_04", NULL), -EEXIST, "is done");
	is(command("track bad nowhere", NULL), -ENOENT, "or not");
	ok(shim_unprobed(), "no kprobe while off");
	is(command("untrack bio", NULL), 0, "untrack while off");
	is(command("on", NULL), 0, "on");
	is(shim_probed(world_addr(SITES + 4)), 1, "what was tracked while off");
	is(shim_probed(world_addr(BIO_ALLOC)), 0, "what was untracked while off");

	for (i = 0; i < WAITPROF_TRACKERS; i++) {
		int err = i < WAITPROF_TRACKERS - 8 ? 0 : -ENOSPC;

		sprintf(text, "track t%u site_05", i);
		if (command(text, NULL) != err)
			break;
	}
	is(i, WAITPROF_TRACKERS, "16 at most");
	before = state();
	is(command("track bio2 nowhere", NULL), -ENOSPC, "and no more");
	is(command("track t0 nowhere", NULL), -EEXIST, "the name is looked at first");
	shim_signal = true;
	is(command("track s site_00", NULL), -EINTR, "track: a signal comes first");
	is(command("untrack t0", NULL), -EINTR, "untrack: a signal comes first");
	shim_signal = false;
	ok(same(before), "nothing has changed");
	is(command("untrack t0\n", NULL), 0, "untrack");
	is(command("untrack t0\n", NULL), -ENOENT, "untrack again");
	is(command("track bio2 site_05", NULL), 0, "makes room");
	ok(!waitprof_control.lock.locked && !waitprof_tracker_lock.locked,
	   "unlocked");
	unload();
	ok(shim_unprobed(), "no kprobe is left at the end");
}

int main(void)
{
	world_init();
	test_malformed();
	test_reset();
	test_on_off("on", "off");
	test_on_off("on\n", "off\n");
	test_missed();
	test_signal();
	test_start();
	test_track();
	free(a.stack.word);
	free(b.stack.word);
	free(machine_idle.stack.word);
	return tap_done();
}
