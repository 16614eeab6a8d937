// SPDX-License-Identifier: GPL-2.0
/* Commands: reset, on, off. See control.h. */

#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/ktime.h>
#include "control.h"
#include "record.h"
#include "slot.h"
#include "snapshot.h"

/**
 * struct waitprof_control - the state, guarded by @lock
 * @lock: held by every command and through every snapshot
 * @hook: asked for at load
 * @on: recording
 * @resets: how many there were
 * @since: when recording began, or the window if that is later; ns of
 *	waitprof_clock()
 * @before: how long the window had recorded by then, ns
 * @cut: waits ended by off in this window
 * @cut_ns: their time
 */
static struct waitprof_control {
	struct mutex lock;	/* the rest of this struct, and the windows */
	enum waitprof_hook hook;
	bool on;
	u32 resets;
	u64 since;
	u64 before;
	u64 cut;
	u64 cut_ns;
} waitprof_control = {
	.lock = __MUTEX_INITIALIZER(waitprof_control.lock),
};

/* The window as it is at @end. */
static struct waitprof_window waitprof_window(u64 end)
{
	struct waitprof_control *c = &waitprof_control;

	return (struct waitprof_window) {
		.on = c->on,
		.resets = c->resets,
		.end = end,
		.ns = c->before + (c->on ? end - c->since : 0),
		.realtime = ktime_get_real_ns() - (waitprof_clock() - end),
		.cut = c->cut,
		.cut_ns = c->cut_ns,
	};
}

static int waitprof_on(void)
{
	struct waitprof_control *c = &waitprof_control;
	u64 now = waitprof_clock();
	int err;

	if (c->on)
		return 0;
	err = waitprof_probe_start(c->hook);
	if (err)
		return err;
	c->on = true;
	c->since = now;
	waitprof_record_scan();
	return 0;
}

static void waitprof_off(void)
{
	struct waitprof_control *c = &waitprof_control;
	u64 now;

	if (!c->on)
		return;
	waitprof_probe_stop();
	now = waitprof_clock();
	waitprof_slot_cut(now, waitprof_cells(0, false)->start, &c->cut,
			  &c->cut_ns);
	c->before += now - c->since;
	c->on = false;
}

/* @snap: to be filled with the window that ends here, or NULL. */
static void waitprof_reset(struct waitprof_snapshot *snap)
{
	struct waitprof_control *c = &waitprof_control;
	u64 now = waitprof_snapshot_close(snap);

	if (snap)
		snap->window = waitprof_window(now);
	c->resets++;
	c->since = now;
	c->before = 0;
	c->cut = 0;
	c->cut_ns = 0;
}

/**
 * waitprof_control_start() - begin the first window
 * @hook: who is to find the sites
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno, then no probe is left.
 */
int waitprof_control_start(enum waitprof_hook hook)
{
	int err;

	mutex_lock(&waitprof_control.lock);
	waitprof_control.hook = hook;
	err = waitprof_on();
	if (!err) {
		/* What the self-test did is no news. */
		waitprof_reset(NULL);
		waitprof_control.resets = 0;
	}
	mutex_unlock(&waitprof_control.lock);
	return err;
}

/**
 * waitprof_control_stop() - remove the probes
 *
 * Context: process, may sleep; there are no readers and writers any more.
 */
void waitprof_control_stop(void)
{
	mutex_lock(&waitprof_control.lock);
	waitprof_off();
	mutex_unlock(&waitprof_control.lock);
}

/**
 * waitprof_control_hook() - the hook that was asked for
 */
enum waitprof_hook waitprof_control_hook(void)
{
	return waitprof_control.hook;
}

/**
 * waitprof_control_read() - take a snapshot of the running window
 * @snap: from waitprof_snapshot_alloc()
 *
 * Context: process, may sleep.
 * Return: 0, or -EINTR if a signal came first.
 */
int waitprof_control_read(struct waitprof_snapshot *snap)
{
	if (mutex_lock_interruptible(&waitprof_control.lock))
		return -EINTR;
	waitprof_snapshot_take(snap);
	snap->window = waitprof_window(snap->window.end);
	mutex_unlock(&waitprof_control.lock);
	return 0;
}

/**
 * waitprof_control_command() - do what was written
 * @cmd: the command, not terminated; one newline may follow it
 * @len: its length
 * @snap: if it is a reset, gets the window that this closes; or NULL
 *
 * Context: process, may sleep.
 * Return: 0; 1 if @snap was filled; -EINVAL if it is no command, -EINTR if a
 *	signal came first; then nothing has changed.
 */
int waitprof_control_command(const char *cmd, size_t len,
			     struct waitprof_snapshot *snap)
{
	static const char * const words[] = { "reset", "0", "on", "off" };
	unsigned int i;
	int ret = 0;

	if (len && cmd[len - 1] == '\n')
		len--;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		if (len == strlen(words[i]) && !memcmp(cmd, words[i], len))
			break;
	if (i == ARRAY_SIZE(words))
		return -EINVAL;

	if (mutex_lock_interruptible(&waitprof_control.lock))
		return -EINTR;
	switch (i) {
	case 0:
	case 1:
		waitprof_reset(snap);
		ret = !!snap;
		break;
	case 2:
		ret = waitprof_on();
		break;
	case 3:
		waitprof_off();
		break;
	}
	mutex_unlock(&waitprof_control.lock);
	return ret;
}
