// SPDX-License-Identifier: GPL-2.0
/* Polls: which file ended them, and which wake-ups had nothing to do with it. */

#include "machine.h"
#include "control.c"

static struct sleeper a, b;

static const struct file_operations pipe_ops = {
	.poll = (void (*)(void))(WORLD_TEXT + 0x1000ul * PIPE_POLL),
};

static const struct file_operations sock_ops = {
	.poll = (void (*)(void))(WORLD_TEXT + 0x1000ul * SOCK_POLL),
};

static const struct proto_ops udp_ops = {
	.poll = (void (*)(void))(WORLD_TEXT + 0x1000ul * UDP_POLL),
};

static const struct proto_ops none_ops;
static struct socket udp = { .ops = &udp_ops }, odd = { .ops = &none_ops };
static struct file pipe_file = { .f_op = &pipe_ops };
static struct file udp_file = { .f_op = &sock_ops, .shim_socket = &udp };
static struct file odd_file = { .f_op = &sock_ops, .shim_socket = &odd };

static struct poll_wqueues wqueues;

static void load(void)
{
	machine_load(32);
	memset(&waitprof_control, 0, sizeof(waitprof_control));
	memset(&wqueues, 0, sizeof(wqueues));
	sleeper_init(&a, 101);
	sleeper_init(&b, 102);
	sleeper_at(&a, DO_POLL_ISRA);
	sleeper_at(&b, PIPE_READ);
	wqueues.polling_task = &a.t;
	shim_clock = 1000;
	if (waitprof_control_start(WAITPROF_HOOK_SWITCH, true))
		abort();
}

static void unload(void)
{
	waitprof_control_stop();
	machine_unload();
}

/* The file tells of @key; the poller has asked for @asked. */
static void tell(struct file *file, __poll_t key, __poll_t asked)
{
	struct poll_table_entry entry = {
		.filp = file, .key = asked, .wait.private = &wqueues,
	};
	struct pt_regs regs = {
		.di = (unsigned long)&entry.wait, .cx = key,
	};

	shim_hit(world_addr(POLLWAKE), &regs);
}

/* How many waits count at a method of that function. */
static u64 at(int func)
{
	unsigned long addr = func == DO_POLL_ISRA ? world_ra(func) :
						    world_addr(func) + 1;
	u64 sum = 0;
	u32 row, site, kind;
	int cpu, i;

	for (row = WAITPROF_ROWS_FIXED; row < waitprof_rows_end(); row++) {
		if (!waitprof_row_key(row, &site, &kind) ||
		    waitprof_site_addr(site) != addr)
			continue;
		for_each_possible_cpu(cpu)
			for (i = 0; i < WAITPROF_BUCKETS; i++)
				sum += cell_of(cpu, row)->hist[i];
	}
	return sum;
}

static u64 early(void)
{
	return waitprof_poll_state().early;
}

static void asleep(void)
{
	sleep_on(&a, 0, shim_clock + 1000, TASK_INTERRUPTIBLE);
}

static void awake(void)
{
	wake_on(&a, 1, shim_clock + 5000);
	wqueues.triggered = 0;
}

static void test_methods(void)
{
	u64 was;

	load();
	ok(waitprof_poll_state().on, "it is on");
	is(shim_probed(world_addr(POLLWAKE)), 1, "pollwake() is probed");
	asleep();
	tell(&pipe_file, 1, 1);
	awake();
	is(at(PIPE_POLL), 1, "a pipe: its method");
	is(at(DO_POLL_ISRA), 0, "and not where it waited");
	is(COUNTED(total_ns), 5000, "with its time");
	asleep();
	tell(&udp_file, 0x41, 1);
	awake();
	is(at(UDP_POLL), 1, "a socket: its protocol's");
	is(at(SOCK_POLL), 0, "and not that of all sockets");
	asleep();
	tell(&odd_file, 0, 1);
	awake();
	is(at(SOCK_POLL), 1, "a protocol without one: that of all; without a key");
	asleep();
	awake();
	is(at(DO_POLL_ISRA), 1, "nobody told: where it waited");
	is(early(), 0, "no wake-up came early");

	was = WAITS;
	asleep();
	tell(&udp_file, 4, 1);
	tell(&pipe_file, 1, 1);
	tell(&udp_file, 1, 1);
	awake();
	is(at(PIPE_POLL), 2, "three files: the first with what was asked for");
	is(WAITS - was, 1, "is one wait");
	asleep();
	wqueues.triggered = 1;
	tell(&udp_file, 1, 1);
	awake();
	is(at(UDP_POLL), 1, "one that comes after another: not its wait");
	is(early(), 0, "nor is it early");
	unload();
}

/* Wake-ups that end no wait of theirs. */
static void test_early(void)
{
	u32 seq;

	load();
	tell(&pipe_file, 1, 1);
	is(early(), 1, "early: nobody is asleep");
	asleep();
	awake();
	is(at(DO_POLL_ISRA), 1, "early: the next wait is none of its");
	sleeper_at(&a, BREAD);
	asleep();
	tell(&pipe_file, 1, 1);
	awake();
	is(early(), 2, "early: asleep elsewhere, on the way to poll");
	is(at(PIPE_POLL), 0, "early: that is no poll");
	sleeper_at(&a, DO_POLL_ISRA);

	/* Between the look at the slot and the change another wakes it, and it
	 * sleeps again.
	 */
	asleep();
	ok(waitprof_slot_asleep(&a.t, &seq), "late: it was asleep");
	awake();
	waitprof_slot_ended(waitprof_place(&a.t, 0), seq, 3);
	is(waitprof_place(&a.t, 0)->method, 0, "late: what has ended stays as it is");
	asleep();
	waitprof_slot_ended(waitprof_place(&a.t, 0), seq, 3);
	is(waitprof_place(&a.t, 0)->method, 0, "late: so does the next wait");
	tell(&pipe_file, 1, 1);
	awake();
	is(at(PIPE_POLL), 1, "late: which has its own end");
	asleep();
	awake();
	is(at(PIPE_POLL), 1, "late: and nothing is left of that");
	ok(!waitprof_slot_asleep(&a.t, &seq), "late: awake");
	unload();
}

static void test_switch(void)
{
	load();
	waitprof_control_command((char[9]){ "poll off" }, 8, NULL);
	ok(!waitprof_poll_state().on, "off");
	is(shim_probed(world_addr(POLLWAKE)), 0, "off: no probe");
	asleep();
	tell(&pipe_file, 1, 1);
	awake();
	is(at(DO_POLL_ISRA), 1, "off: all where they wait");
	waitprof_control_command((char[4]){ "off" }, 3, NULL);
	is(waitprof_control_command((char[8]){ "poll on" }, 7, NULL), 0,
	   "on, while nothing is recorded");
	is(shim_probed(world_addr(POLLWAKE)), 0, "on: no probe yet");
	waitprof_control_command((char[3]){ "on" }, 2, NULL);
	ok(waitprof_poll_state().on, "on: with the rest");
	asleep();
	tell(&pipe_file, 1, 1);
	waitprof_control_command((char[6]){ "reset" }, 5, NULL);
	awake();
	is(at(PIPE_POLL), 1, "told, and the window ends: in the next");
	tell(&pipe_file, 1, 1);
	is(waitprof_window(shim_clock).poll_early, 1, "a window has its own");
	waitprof_control_command((char[6]){ "reset" }, 5, NULL);
	is(waitprof_window(shim_clock).poll_early, 0, "early ones");
	is(waitprof_control_command((char[16]){ "poll maybe" }, 10, NULL), -EINVAL,
	   "neither on nor off");
	ok(waitprof_poll_state().on, "changes nothing");

	waitprof_control_command((char[9]){ "poll off" }, 8, NULL);
	shim_refused[0].symbol = "pollwake";
	shim_refused[0].err = -EINVAL;
	is(waitprof_control_command((char[8]){ "poll on" }, 7, NULL), -EINVAL,
	   "refused: the writer is told");
	ok(!waitprof_poll_state().on && waitprof_poll_state().err == -EINVAL,
	   "refused: the report says so");
	ok(!waitprof_control.poll, "refused: it stays off");
	shim_refused[0].symbol = NULL;
	unload();
	is(shim_probed(world_addr(POLLWAKE)), 0, "unload: no probe");
}

/* No room for the method: the wait is in (other), as all of its row. */
static void test_full(void)
{
	machine_load(1);
	memset(&waitprof_control, 0, sizeof(waitprof_control));
	sleeper_init(&a, 101);
	sleeper_at(&a, DO_POLL_ISRA);
	memset(&wqueues, 0, sizeof(wqueues));
	wqueues.polling_task = &a.t;
	if (waitprof_control_start(WAITPROF_HOOK_SWITCH, true))
		abort();
	asleep();
	tell(&pipe_file, 1, 1);
	awake();
	is(cell_of(1, WAITPROF_ROW_OTHER)->total_ns, 5000,
	   "no row for the method: in (other)");
	is(WAITS, 1, "once");
	asleep();
	awake();
	is(at(DO_POLL_ISRA), 1, "the row of the function is still there");
	unload();
}

int main(void)
{
	world_init();
	test_methods();
	test_early();
	test_switch();
	test_full();
	free(a.stack.word);
	free(b.stack.word);
	free(machine_idle.stack.word);
	return tap_done();
}
