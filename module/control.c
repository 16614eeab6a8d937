// SPDX-License-Identifier: GPL-2.0
/* Commands: reset, on, off, track, untrack, poll. See control.h. */

#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/ktime.h>
#include "control.h"
#include "poll.h"
#include "record.h"
#include "slot.h"
#include "snapshot.h"
#include "tracker.h"

/**
 * struct waitprof_control - the state, guarded by @lock
 * @lock: held by every command and through every snapshot
 * @hook: asked for at load
 * @poll: to tell which file ended a poll, while recording
 * @on: recording
 * @resets: how many there were
 * @since: when recording began, or the window if that is later; ns of
 *	waitprof_clock()
 * @before: how long the window had recorded by then, ns
 * @cut: waits ended by off in this window
 * @cut_ns: their time
 * @missed: hits that kprobes had missed when the window began
 * @polls: what the probe on pollwake() had counted then
 */
static struct waitprof_control {
	struct mutex lock;	/* the rest of this struct, and the windows */
	enum waitprof_hook hook;
	bool poll;
	bool on;
	u32 resets;
	u64 since;
	u64 before;
	u64 cut;
	u64 cut_ns;
	u64 missed;
	struct waitprof_poll_state polls;
} waitprof_control = {
	.lock = __MUTEX_INITIALIZER(waitprof_control.lock),
};

/* How long recording has been on, in one go. */
static u64 waitprof_on_for(u64 now)
{
	/* The clock of one CPU may be a little behind that of another. */
	return now - min(now, waitprof_control.since);
}

/* The window as it is at @end. */
static struct waitprof_window waitprof_window(u64 end)
{
	struct waitprof_control *c = &waitprof_control;
	struct waitprof_poll_state polls = waitprof_poll_state();

	return (struct waitprof_window) {
		.on = c->on,
		.resets = c->resets,
		.end = end,
		.ns = c->before + (c->on ? waitprof_on_for(end) : 0),
		.realtime = ktime_get_real_ns() - (waitprof_clock() - end),
		.cut = c->cut,
		.cut_ns = c->cut_ns,
		.missed = waitprof_probe_missed() - c->missed,
		.poll_early = polls.early - c->polls.early,
		.poll_missed = polls.missed - c->polls.missed,
	};
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
	c->missed = waitprof_probe_missed();
	c->polls = waitprof_poll_state();
}

/* @first: at load, with which the first window begins. */
static int waitprof_on(bool first)
{
	struct waitprof_control *c = &waitprof_control;
	u64 since;
	int err;

	if (c->on)
		return 0;
	waitprof_record_choose();
	err = waitprof_probe_start(c->hook, &since);
	if (err)
		return err;
	c->on = true;
	c->since = since;
	/* What the self-test did is no news. */
	if (first)
		waitprof_reset(NULL);
	waitprof_record_scan(since);
	waitprof_tracker_start();
	/* Without it all is as it would be with poll off; the report says why. */
	if (c->poll)
		waitprof_poll_start();
	return 0;
}

static void waitprof_off(void)
{
	struct waitprof_control *c = &waitprof_control;
	u64 now;

	if (!c->on)
		return;
	waitprof_poll_stop();
	waitprof_tracker_stop();
	waitprof_probe_stop();
	now = waitprof_clock();
	waitprof_slot_cut(now, waitprof_cells(0, false)->start, &c->cut,
			  &c->cut_ns);
	c->before += waitprof_on_for(now);
	c->on = false;
}

/**
 * waitprof_control_start() - begin the first window
 * @hook: who is to find the sites
 * @poll: tell which file ended a poll
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno, then no probe is left.
 */
int waitprof_control_start(enum waitprof_hook hook, bool poll)
{
	int err;

	mutex_lock(&waitprof_control.lock);
	waitprof_control.hook = hook;
	waitprof_control.poll = poll;
	err = waitprof_on(true);
	waitprof_control.resets = 0;
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

/* The words of a command, separated by single blanks. */
#define WAITPROF_WORDS		4

/* Cut @cmd into words. Return: how many; 0 if it is not made of words. */
static unsigned int waitprof_words(char *cmd, char **words)
{
	unsigned int n = 0;
	char *word;

	while ((word = strsep(&cmd, " "))) {
		if (!*word || n == WAITPROF_WORDS)
			return 0;
		words[n++] = word;
	}
	return n;
}

/* Is it made of letters, digits and these characters, and short enough? */
static bool waitprof_word_ok(const char *word, const char *also, size_t size)
{
	size_t i;

	for (i = 0; word[i]; i++)
		if (!isascii(word[i]) ||
		    (!isalnum(word[i]) && !strchr(also, word[i])))
			return false;
	return i && i < size;
}

/* SYMBOL or MODULE:SYMBOL */
static bool waitprof_symbol_ok(const char *word)
{
	const char *colon = strchr(word, ':');

	return waitprof_word_ok(word, "_.:", WAITPROF_TRACKER_SYMBOL) &&
	       (!colon || (colon != word && colon[1] &&
			   !strchr(colon + 1, ':')));
}

static int waitprof_track(char **words, unsigned int n)
{
	unsigned int i;

	if (n < 3 || !waitprof_word_ok(words[1], "_.-", WAITPROF_TRACKER_NAME))
		return -EINVAL;
	for (i = 2; i < n; i++)
		if (!waitprof_symbol_ok(words[i]))
			return -EINVAL;
	return waitprof_tracker_add(words[1], words[2],
				     n > 3 ? words[3] : NULL);
}

static int waitprof_poll(const char *word)
{
	struct waitprof_control *c = &waitprof_control;
	int err = 0;

	if (strcmp(word, "on") && strcmp(word, "off"))
		return -EINVAL;
	if (strcmp(word, "on"))
		waitprof_poll_stop();
	else if (c->on)
		err = waitprof_poll_start();
	if (!err)
		c->poll = !strcmp(word, "on");
	return err;
}

static int waitprof_execute(char **words, unsigned int n,
			    struct waitprof_snapshot *snap)
{
	if (n > 2 && !strcmp(words[0], "track"))
		return waitprof_track(words, n);
	if (n == 2 && !strcmp(words[0], "untrack"))
		return waitprof_tracker_remove(words[1]);
	if (n == 2 && !strcmp(words[0], "poll"))
		return waitprof_poll(words[1]);
	if (n != 1)
		return -EINVAL;
	if (!strcmp(words[0], "on"))
		return waitprof_on(false);
	if (!strcmp(words[0], "reset") || !strcmp(words[0], "0")) {
		waitprof_reset(snap);
		return !!snap;
	}
	if (!strcmp(words[0], "off")) {
		waitprof_off();
		return 0;
	}
	return -EINVAL;
}

/**
 * waitprof_control_resets() - is it a command to reset?
 * @cmd: see waitprof_control_command()
 * @len: see waitprof_control_command()
 */
bool waitprof_control_resets(const char *cmd, size_t len)
{
	if (len && cmd[len - 1] == '\n')
		len--;
	return (len == 5 && !memcmp(cmd, "reset", 5)) ||
	       (len == 1 && *cmd == '0');
}

/**
 * waitprof_control_command() - do what was written
 * @cmd: the command, with room for one character more; a newline may end it;
 *	cut up in place
 * @len: its length
 * @snap: if it is a reset, gets the window that this closes; or NULL
 *
 * Context: process, may sleep.
 * Return: 0; 1 if @snap was filled; -EINVAL if it is no command, -EINTR if a
 *	signal came first, or what waitprof_tracker_add() and waitprof_poll_start()
 *	say; then nothing has changed.
 */
int waitprof_control_command(char *cmd, size_t len,
			     struct waitprof_snapshot *snap)
{
	char *words[WAITPROF_WORDS];
	unsigned int n;
	int ret;

	if (len && cmd[len - 1] == '\n')
		len--;
	cmd[len] = '\0';
	if (strlen(cmd) != len)
		return -EINVAL;
	n = waitprof_words(cmd, words);
	if (!n)
		return -EINVAL;
	if (mutex_lock_interruptible(&waitprof_control.lock))
		return -EINTR;
	ret = waitprof_execute(words, n, snap);
	mutex_unlock(&waitprof_control.lock);
	return ret;
}
