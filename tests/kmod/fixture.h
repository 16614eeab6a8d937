/* SPDX-License-Identifier: GPL-2.0 */
#ifndef WP_FIXTURE_H
#define WP_FIXTURE_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

struct task_struct;
struct wp_ctx;

/**
 * struct wp_fixture - one row of the table of fixtures
 * @name: the word that a command begins with
 * @function: where the wait must be seen
 * @class: class of the wait as waitprof prints it, "-" where none is made
 * @sleep: one sleep; the runner calls it COUNT times and takes the time, and
 *	only through this pointer, so that no copy by another name is made
 * @peer: what the peer thread does in each round, NULL: no peer needed
 * @after: what the sleeper does after each sleep, when its time is taken
 * @flags: WP_*
 */
struct wp_fixture {
	const char *name;
	const char *function;
	const char *class;
	void (*sleep)(struct wp_ctx *c);
	void (*peer)(struct wp_ctx *c);
	void (*after)(struct wp_ctx *c);
	unsigned int flags;
};

#define WP_HELD		1	/* sleep only after the peer holds its lock */
#define WP_NO_WAIT	2	/* makes no wait, whatever the counters say */
#define WP_KTHREAD	4	/* runs in a kernel thread of its own */
#define WP_PARK		8	/* as WP_KTHREAD, and is parked by the command */
#define WP_ONE_MS	16	/* a single number is MS, not COUNT */
#define WP_SIGNAL	32	/* leaves TIF_SIGPENDING behind */
#define WP_SAME_CPU	64	/* the peer stays on the sleeper's CPU */
#define WP_CROWD	128	/* many kernel threads at once, and each sleeps */

/* What one command works on. Commands share nothing, so they may overlap. */
struct wp_ctx {
	const struct wp_fixture *fx;
	unsigned int count;
	unsigned int ms;
	struct task_struct *sleeper;

	/* What is slept on. */
	wait_queue_head_t wq;
	bool woken;
	struct completion done;
	struct mutex mutex;	/* protects nothing, as the other two */
	struct rw_semaphore rwsem;
	struct semaphore sem;
	unsigned long bits;
	spinlock_t *spin;	/* one for all contexts of a crowd */
	spinlock_t own_spin;
	rwlock_t rwlock;

	/* The peer: asked once a round, answers when the round is over. */
	struct task_struct *peer;
	bool quit;
	struct completion ask;
	struct completion held;
	struct completion answered;

	/* The truth. */
	unsigned int calls;
	unsigned long nvcsw;
	u64 total_ns;
	u64 max_ns;
	u64 busy_ns;
};

#define WP_MANY_MAX	40

extern const struct wp_fixture wp_many[WP_MANY_MAX];

#endif
