// SPDX-License-Identifier: GPL-2.0
/*
 * Sleeps of known number and length at functions of known names.
 *
 *	# echo msleep 23 10 > /proc/wp_fixture
 *	# cat /proc/wp_fixture
 *	wp_fx_msleep	D	23	276000000	12100000	23	23	user	9500
 *
 * A command is NAME COUNT MS. It runs in the writer's own context and appends
 * a line of truth: function, class, waits, total_ns, max_ns, and behind those
 * the calls made, the growth of nvcsw, the kind of task, and busy_ns. Each time is
 * taken around the sleeping call, so it is never less than the wait inside; and
 * it is more by what the scheduler says that the task ran or was ready to run
 * meanwhile, busy_ns: on a busy host, or among others that run, that can be much.
 * The waits are counted by the scheduler's nvcsw: a wake-up that comes before
 * the sleeper is asleep makes no wait, and is not counted as one. "clear"
 * empties the list.
 *
 * Not counted here: waits of the peer, and those for the peer between two
 * rounds. They stand at functions that begin with wp_peer_ and wp_cmd_.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/local_lock.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait_bit.h>

#include "fixture.h"

#define WP_COUNT_MAX	1000000
#define WP_MS_MAX	600000
#define WP_TRUTH_MAX	1024

struct wp_truth {
	const struct wp_fixture *fx;
	unsigned long count;
	unsigned long nvcsw;
	unsigned int calls;
	u64 total_ns;
	u64 max_ns;
	u64 busy_ns;
};

static struct wp_truth wp_truths[WP_TRUTH_MAX];
static unsigned int wp_truth_nr;
static DEFINE_MUTEX(wp_truth_lock);

/* The sleeps: one each. */

static noinline __noclone void wp_fx_msleep(struct wp_ctx *c)
{
	msleep(c->ms);
}

static noinline __noclone void wp_fx_usleep(struct wp_ctx *c)
{
	usleep_range(c->ms * 1000, c->ms * 1000 + 50);
}

static noinline __noclone void wp_fx_wait_event(struct wp_ctx *c)
{
	wait_event(c->wq, READ_ONCE(c->woken));
}

static noinline __noclone void wp_fx_wait_event_interruptible(struct wp_ctx *c)
{
	/* A signal ends the wait early; the runner then ends the command. */
	if (wait_event_interruptible(c->wq, READ_ONCE(c->woken)))
		return;
}

static noinline __noclone void wp_fx_wait_event_timeout(struct wp_ctx *c)
{
	wait_event_timeout(c->wq, READ_ONCE(c->woken), msecs_to_jiffies(c->ms));
}

static noinline __noclone void wp_fx_completion(struct wp_ctx *c)
{
	wait_for_completion(&c->done);
}

static noinline __noclone void wp_fx_mutex(struct wp_ctx *c)
{
	mutex_lock(&c->mutex);
	mutex_unlock(&c->mutex);
}

static noinline __noclone void wp_fx_rwsem_write(struct wp_ctx *c)
{
	down_write(&c->rwsem);
	up_write(&c->rwsem);
}

static noinline __noclone void wp_fx_rwsem_read(struct wp_ctx *c)
{
	down_read(&c->rwsem);
	up_read(&c->rwsem);
}

static noinline __noclone void wp_fx_semaphore(struct wp_ctx *c)
{
	down(&c->sem);
	up(&c->sem);
}

static noinline __noclone void wp_fx_schedule_timeout(struct wp_ctx *c)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_timeout(msecs_to_jiffies(c->ms));
}

static noinline __noclone void wp_fx_timeout_uninterruptible(struct wp_ctx *c)
{
	schedule_timeout_uninterruptible(msecs_to_jiffies(c->ms));
}

static noinline __noclone void wp_fx_timeout_interruptible(struct wp_ctx *c)
{
	schedule_timeout_interruptible(msecs_to_jiffies(c->ms));
}

static noinline __noclone void wp_fx_timeout_idle(struct wp_ctx *c)
{
	schedule_timeout_idle(msecs_to_jiffies(c->ms));
}

static noinline __noclone void wp_fx_killable(struct wp_ctx *c)
{
	schedule_timeout_killable(msecs_to_jiffies(c->ms));
}

static noinline __noclone void wp_fx_schedule(struct wp_ctx *c)
{
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		if (READ_ONCE(c->woken))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
}

static noinline __noclone void wp_fx_io_schedule(struct wp_ctx *c)
{
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		if (READ_ONCE(c->woken))
			break;
		io_schedule();
	}
	__set_current_state(TASK_RUNNING);
}

static noinline __noclone void wp_fx_io_schedule_timeout(struct wp_ctx *c)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	io_schedule_timeout(msecs_to_jiffies(c->ms));
}

static noinline __noclone void wp_fx_wait_on_bit(struct wp_ctx *c)
{
	wait_on_bit(&c->bits, 0, TASK_UNINTERRUPTIBLE);
}

static noinline __noclone void wp_fx_wait_on_bit_io(struct wp_ctx *c)
{
	wait_on_bit_io(&c->bits, 0, TASK_UNINTERRUPTIBLE);
}

static noinline __noclone void wp_fx_kthread(struct wp_ctx *c)
{
	msleep(c->ms);
}

static noinline __noclone void wp_fx_kthread_idle(struct wp_ctx *c)
{
	schedule_timeout_idle(msecs_to_jiffies(c->ms));
}

static noinline __noclone void wp_fx_park(struct wp_ctx *c)
{
	kthread_parkme();
}

/* The calls that are no waits. With MS they are busy first, so that it is time
 * for somebody else to run.
 */

static void wp_busy(unsigned int ms)
{
	u64 end = ktime_get_ns() + ms * (u64)NSEC_PER_MSEC;

	while (ktime_get_ns() < end)
		cpu_relax();
}

static noinline __noclone void wp_fx_runnable(struct wp_ctx *c)
{
	wp_busy(c->ms);
	schedule();
}

/*
 * The flag alone makes signal_pending() true, with no signal to be handled
 * afterwards; recalc_sigpending() at the end of the command takes it back.
 */
static noinline __noclone void wp_fx_signal(struct wp_ctx *c)
{
	wp_busy(c->ms);
	set_tsk_thread_flag(current, TIF_SIGPENDING);
	set_current_state(TASK_INTERRUPTIBLE);
	schedule();
	__set_current_state(TASK_RUNNING);
}

static noinline __noclone void wp_fx_early(struct wp_ctx *c)
{
	wp_busy(c->ms);
	set_current_state(TASK_UNINTERRUPTIBLE);
	wake_up_process(current);
	schedule();
}

/* Busy with a state set: whoever preempts it finds a task that is no sleeper. */
static noinline __noclone void wp_fx_preempted(struct wp_ctx *c)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	wp_busy(c->ms);
	__set_current_state(TASK_RUNNING);
}

/* The same, and then it sleeps: one wait, however often it was preempted. */
static noinline __noclone void wp_fx_preempted_sleep(struct wp_ctx *c)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	wp_busy(c->ms);
	schedule_timeout(msecs_to_jiffies(c->ms));
}

/* What the peer does in one round. */

static noinline void wp_peer_wake(struct wp_ctx *c)
{
	msleep(c->ms);
	WRITE_ONCE(c->woken, true);
	wake_up(&c->wq);
}

static noinline void wp_peer_wake_task(struct wp_ctx *c)
{
	msleep(c->ms);
	WRITE_ONCE(c->woken, true);
	wake_up_process(c->sleeper);
}

static noinline void wp_peer_complete(struct wp_ctx *c)
{
	msleep(c->ms);
	complete(&c->done);
}

static noinline void wp_peer_clear_bit(struct wp_ctx *c)
{
	msleep(c->ms);
	clear_bit(0, &c->bits);
	/* Pairs with the barrier in prepare_to_wait() of the sleeper. */
	smp_mb__after_atomic();
	wake_up_bit(&c->bits, 0);
}

/* The holders sleep while they hold: nobody spins for an owner off its CPU. */
static noinline void wp_peer_hold_mutex(struct wp_ctx *c)
{
	mutex_lock(&c->mutex);
	complete(&c->held);
	msleep(c->ms);
	mutex_unlock(&c->mutex);
}

static noinline void wp_peer_hold_rwsem(struct wp_ctx *c)
{
	down_write(&c->rwsem);
	complete(&c->held);
	msleep(c->ms);
	up_write(&c->rwsem);
}

static noinline void wp_peer_hold_semaphore(struct wp_ctx *c)
{
	down(&c->sem);
	complete(&c->held);
	msleep(c->ms);
	up(&c->sem);
}

#ifdef CONFIG_PREEMPT_RT
/* Spinlocks, where they sleep. The holder is busy, for with a spinlock held
 * nobody may sleep; and it stays on the sleeper's CPU, who would else spin for
 * an owner that runs.
 */
static void wp_hold(struct wp_ctx *c)
{
	u64 end = ktime_get_ns() + NSEC_PER_SEC;

	complete(&c->held);
	while (READ_ONCE(c->sleeper->__state) != TASK_RTLOCK_WAIT &&
	       ktime_get_ns() < end)
		cpu_relax();
	wp_busy(c->ms);
}

static DEFINE_PER_CPU(local_lock_t, wp_local_lock) =
	INIT_LOCAL_LOCK(wp_local_lock);

#define WP_SLEEPER(name, lock, unlock)					\
static noinline __noclone void wp_fx_##name(struct wp_ctx *c)		\
{									\
	lock;								\
	unlock;								\
}

#define WP_HOLDER(name, lock, unlock)					\
static noinline void wp_peer_##name(struct wp_ctx *c)			\
{									\
	lock;								\
	wp_hold(c);							\
	unlock;								\
}

WP_SLEEPER(spinlock, spin_lock(c->spin), spin_unlock(c->spin))
WP_HOLDER(spinlock, spin_lock(c->spin), spin_unlock(c->spin))
WP_SLEEPER(spinlock_bh, spin_lock_bh(c->spin), spin_unlock_bh(c->spin))
WP_HOLDER(spinlock_bh, spin_lock_bh(c->spin), spin_unlock_bh(c->spin))
WP_SLEEPER(write_lock, write_lock(&c->rwlock), write_unlock(&c->rwlock))
WP_HOLDER(write_lock, write_lock(&c->rwlock), write_unlock(&c->rwlock))
WP_SLEEPER(local_lock, local_lock(&wp_local_lock), local_unlock(&wp_local_lock))
WP_HOLDER(local_lock, local_lock(&wp_local_lock), local_unlock(&wp_local_lock))

static noinline __noclone void wp_fx_read_lock(struct wp_ctx *c)
{
	read_lock(&c->rwlock);
	read_unlock(&c->rwlock);
}

static noinline __noclone void wp_fx_crowd(struct wp_ctx *c)
	__acquires(c->spin)
{
	spin_lock(c->spin);
}

static void wp_after_crowd(struct wp_ctx *c)
	__releases(c->spin)
{
	wp_busy(c->ms);
	spin_unlock(c->spin);
	/* All wake at one tick, and meet at the lock. */
	schedule_timeout_uninterruptible(1);
}
#endif /* CONFIG_PREEMPT_RT */

#define WP_ROW(n, cl, p, fl)					\
{								\
	.name = #n,						\
	.function = "wp_fx_" #n,				\
	.class = cl,						\
	.sleep = wp_fx_##n,					\
	.peer = p,						\
	.flags = fl,						\
}

static const struct wp_fixture wp_fixtures[] = {
	WP_ROW(msleep, "D", NULL, 0),
	WP_ROW(usleep, "D", NULL, 0),
	WP_ROW(wait_event, "D", wp_peer_wake, 0),
	WP_ROW(wait_event_interruptible, "S", wp_peer_wake, 0),
	WP_ROW(wait_event_timeout, "D", NULL, 0),
	WP_ROW(completion, "D", wp_peer_complete, 0),
	WP_ROW(mutex, "D", wp_peer_hold_mutex, WP_HELD),
	WP_ROW(rwsem_write, "D", wp_peer_hold_rwsem, WP_HELD),
	WP_ROW(rwsem_read, "D", wp_peer_hold_rwsem, WP_HELD),
	WP_ROW(semaphore, "D", wp_peer_hold_semaphore, WP_HELD),
	WP_ROW(schedule_timeout, "D", NULL, 0),
	WP_ROW(timeout_uninterruptible, "D", NULL, 0),
	WP_ROW(timeout_interruptible, "S", NULL, 0),
	WP_ROW(timeout_idle, "I", NULL, 0),
	WP_ROW(killable, "D", NULL, WP_ONE_MS),
	WP_ROW(schedule, "D", wp_peer_wake_task, 0),
	WP_ROW(io_schedule, "Dio", wp_peer_wake_task, 0),
	WP_ROW(io_schedule_timeout, "Dio", NULL, 0),
	WP_ROW(wait_on_bit, "D", wp_peer_clear_bit, 0),
	WP_ROW(wait_on_bit_io, "Dio", wp_peer_clear_bit, 0),
	WP_ROW(kthread, "D", NULL, WP_KTHREAD),
	WP_ROW(kthread_idle, "I", NULL, WP_KTHREAD),
	WP_ROW(park, "P", NULL, WP_KTHREAD | WP_PARK | WP_ONE_MS),
	WP_ROW(runnable, "-", NULL, WP_NO_WAIT),
	WP_ROW(signal, "-", NULL, WP_NO_WAIT | WP_SIGNAL),
	WP_ROW(early, "-", NULL, WP_NO_WAIT),
	WP_ROW(preempted, "-", NULL, WP_NO_WAIT),
	WP_ROW(preempted_sleep, "D", NULL, 0),
#ifdef CONFIG_PREEMPT_RT
	WP_ROW(spinlock, "L", wp_peer_spinlock, WP_HELD | WP_SAME_CPU),
	WP_ROW(spinlock_bh, "L", wp_peer_spinlock_bh, WP_HELD | WP_SAME_CPU),
	WP_ROW(write_lock, "L", wp_peer_write_lock, WP_HELD | WP_SAME_CPU),
	WP_ROW(read_lock, "L", wp_peer_write_lock, WP_HELD | WP_SAME_CPU),
	WP_ROW(local_lock, "L", wp_peer_local_lock, WP_HELD | WP_SAME_CPU),
	{
		.name = "crowd",
		.function = "wp_fx_crowd",
		.class = "L",
		.sleep = wp_fx_crowd,
		.after = wp_after_crowd,
		.flags = WP_KTHREAD | WP_CROWD,
	},
#endif
};

static int wp_peer_thread(void *data)
{
	struct wp_ctx *c = data;

	for (;;) {
		wait_for_completion(&c->ask);
		if (c->quit)
			return 0;
		c->fx->peer(c);
		complete(&c->answered);
	}
}

static u64 wp_busy_ns(void)
{
	return current->se.sum_exec_runtime + current->sched_info.run_delay;
}

/* One sleep, timed. The caller has made the peer ready. */
static void wp_timed(struct wp_ctx *c)
{
	unsigned long nvcsw = current->nvcsw;
	u64 busy = wp_busy_ns(), t = ktime_get_ns();

	c->fx->sleep(c);
	t = ktime_get_ns() - t;
	c->busy_ns += wp_busy_ns() - busy;
	c->nvcsw += current->nvcsw - nvcsw;
	c->total_ns += t;
	if (t > c->max_ns)
		c->max_ns = t;
	c->calls++;
}

static noinline void wp_cmd_ask(struct wp_ctx *c)
{
	WRITE_ONCE(c->woken, false);
	set_bit(0, &c->bits);
	complete(&c->ask);
	if (c->fx->flags & WP_HELD)
		wait_for_completion(&c->held);
}

static noinline void wp_cmd_answer(struct wp_ctx *c)
{
	wait_for_completion(&c->answered);
}

static void wp_rounds(struct wp_ctx *c)
{
	unsigned int i;

	c->sleeper = current;
	for (i = 0; i < c->count; i++) {
		if (c->fx->peer)
			wp_cmd_ask(c);
		wp_timed(c);
		if (c->fx->after)
			c->fx->after(c);
		if (c->fx->peer)
			wp_cmd_answer(c);
		if (signal_pending(current) && !(c->fx->flags & WP_SIGNAL))
			break;
	}
	if (c->fx->flags & WP_SIGNAL)
		recalc_sigpending();
}

static int wp_kthread(void *data)
{
	struct wp_ctx *c = data;

	wp_rounds(c);
	complete(&c->answered);
	return 0;
}

static noinline void wp_peer_unparked(struct wp_ctx *c)
{
	wait_event_interruptible(c->wq, kthread_should_park() ||
				 kthread_should_stop());
}

static int wp_park_thread(void *data)
{
	struct wp_ctx *c = data;

	complete(&c->held);
	for (;;) {
		wp_peer_unparked(c);
		if (kthread_should_stop())
			return 0;
		wp_timed(c);
	}
}

static noinline int wp_cmd_park(struct wp_ctx *c)
{
	unsigned int i;
	int err;

	/* Too early, and it would park in kthread(), before it is here at all. */
	wait_for_completion(&c->held);
	for (i = 0; i < c->count; i++) {
		err = kthread_park(c->peer);
		if (err)
			return err;
		msleep(c->ms);
		kthread_unpark(c->peer);
		/* Too early, and it would park again within the same call. */
		msleep(20);
	}
	return 0;
}

/* Start a thread that may end by itself: its task is kept until wp_reap(). */
static int wp_spawn(struct wp_ctx *c, int (*fn)(void *))
{
	struct task_struct *t = kthread_create(fn, c, "wp_%s", c->fx->name);

	if (IS_ERR(t))
		return PTR_ERR(t);
	if (c->fx->flags & WP_SAME_CPU)
		kthread_bind(t, raw_smp_processor_id());
	get_task_struct(t);
	c->peer = t;
	wake_up_process(t);
	return 0;
}

static void wp_reap(struct wp_ctx *c)
{
	kthread_stop(c->peer);
	put_task_struct(c->peer);
}

static int wp_record(const struct wp_ctx *c)
{
	const struct wp_fixture *fx = c->fx;
	int err = -ENOSPC;

	mutex_lock(&wp_truth_lock);
	if (wp_truth_nr < WP_TRUTH_MAX) {
		wp_truths[wp_truth_nr++] = (struct wp_truth) {
			.fx = fx,
			.count = fx->flags & WP_NO_WAIT ? 0 : c->nvcsw,
			.nvcsw = c->nvcsw,
			.calls = c->calls,
			.total_ns = c->total_ns,
			.max_ns = c->max_ns,
			.busy_ns = c->busy_ns,
		};
		err = 0;
	}
	mutex_unlock(&wp_truth_lock);
	return err;
}

static void wp_init_ctx(struct wp_ctx *c, const struct wp_fixture *fx,
			unsigned int count, unsigned int ms)
{
	c->fx = fx;
	c->count = count;
	c->ms = ms;
	init_waitqueue_head(&c->wq);
	init_completion(&c->done);
	mutex_init(&c->mutex);
	init_rwsem(&c->rwsem);
	sema_init(&c->sem, 1);
	init_completion(&c->ask);
	init_completion(&c->held);
	init_completion(&c->answered);
	spin_lock_init(&c->own_spin);
	c->spin = &c->own_spin;
	rwlock_init(&c->rwlock);
}

#define WP_CROWD_SIZE	6

/* The truth of all is that of the first. */
static int wp_crowd(const struct wp_fixture *fx, unsigned int count,
		    unsigned int ms)
{
	struct wp_ctx *c = kcalloc(WP_CROWD_SIZE, sizeof(*c), GFP_KERNEL);
	int i, n, err = 0;

	if (!c)
		return -ENOMEM;
	for (n = 0; n < WP_CROWD_SIZE && !err; n++) {
		wp_init_ctx(&c[n], fx, count, ms);
		c[n].spin = &c[0].own_spin;
		err = wp_spawn(&c[n], wp_kthread);
	}
	n -= !!err;
	for (i = 0; i < n; i++) {
		wp_cmd_answer(&c[i]);
		wp_reap(&c[i]);
	}
	for (i = 1; i < n; i++) {
		c[0].calls += c[i].calls;
		c[0].nvcsw += c[i].nvcsw;
		c[0].total_ns += c[i].total_ns;
		c[0].busy_ns += c[i].busy_ns;
		c[0].max_ns = max(c[0].max_ns, c[i].max_ns);
	}
	if (!err)
		err = wp_record(&c[0]);
	kfree(c);
	return err;
}

static int wp_command(const struct wp_fixture *fx, unsigned int count,
		      unsigned int ms)
{
	struct wp_ctx *c;
	int err = 0;

	if (fx->flags & WP_CROWD)
		return wp_crowd(fx, count, ms);
	c = kzalloc(sizeof(*c), GFP_KERNEL);
	if (!c)
		return -ENOMEM;
	wp_init_ctx(c, fx, count, ms);
	if (fx->flags & WP_PARK) {
		err = wp_spawn(c, wp_park_thread);
		if (err)
			goto free;
		err = wp_cmd_park(c);
		wp_reap(c);
	} else if (fx->flags & WP_KTHREAD) {
		err = wp_spawn(c, wp_kthread);
		if (err)
			goto free;
		/* kthread_stop() wakes: it must not come before the end. */
		wp_cmd_answer(c);
		wp_reap(c);
	} else if (fx->peer) {
		err = wp_spawn(c, wp_peer_thread);
		if (err)
			goto free;
		wp_rounds(c);
		c->quit = true;
		complete(&c->ask);
		wp_reap(c);
	} else {
		wp_rounds(c);
	}
	if (!err)
		err = wp_record(c);
free:
	kfree(c);
	return err;
}

static int wp_many_command(unsigned int count, unsigned int ms)
{
	int err = 0;
	int i;

	for (i = 0; i < WP_MANY_MAX && !err; i++)
		err = wp_command(&wp_many[i], count, ms);
	return err;
}

static int wp_dispatch(const char *name, unsigned int count, unsigned int ms,
		       bool one)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(wp_fixtures); i++) {
		const struct wp_fixture *fx = &wp_fixtures[i];

		if (strcmp(fx->name, name))
			continue;
		if (one && (fx->flags & WP_ONE_MS)) {
			ms = count;
			count = 1;
		}
		if (count > WP_COUNT_MAX || ms > WP_MS_MAX)
			return -EINVAL;
		return wp_command(fx, count, ms);
	}
	if (count > WP_COUNT_MAX || ms > WP_MS_MAX)
		return -EINVAL;
	if (!strcmp(name, "many"))
		return wp_many_command(count, ms);
	return -EINVAL;
}

static ssize_t wp_write(struct file *file, const char __user *buf, size_t len,
			loff_t *pos)
{
	unsigned int count = 0, ms = 0;
	char line[64], name[32];
	int n, err;

	if (!len || len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	line[len] = '\0';
	n = sscanf(line, "%31s %u %u", name, &count, &ms);
	if (n == 1 && !strcmp(name, "clear")) {
		mutex_lock(&wp_truth_lock);
		wp_truth_nr = 0;
		mutex_unlock(&wp_truth_lock);
		return len;
	}
	if (n < 2)
		return -EINVAL;
	err = wp_dispatch(name, count, ms, n == 2);
	return err ? err : len;
}

static int wp_show(struct seq_file *m, void *v)
{
	unsigned int i;

	mutex_lock(&wp_truth_lock);
	for (i = 0; i < wp_truth_nr; i++) {
		const struct wp_truth *t = &wp_truths[i];

		seq_printf(m, "%s\t%s\t%lu\t%llu\t%llu\t%u\t%lu\t%s\t%llu\n",
			   t->fx->function, t->fx->class, t->count,
			   t->total_ns, t->max_ns, t->calls, t->nvcsw,
			   t->fx->flags & WP_KTHREAD ? "kernel" : "user",
			   t->busy_ns);
	}
	mutex_unlock(&wp_truth_lock);
	return 0;
}

static int wp_open(struct inode *inode, struct file *file)
{
	return single_open(file, wp_show, NULL);
}

static const struct proc_ops wp_proc_ops = {
	.proc_open = wp_open,
	.proc_read = seq_read,
	.proc_write = wp_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int __init wp_init(void)
{
	if (!proc_create("wp_fixture", 0600, NULL, &wp_proc_ops))
		return -ENOMEM;
	return 0;
}

static void __exit wp_exit(void)
{
	remove_proc_entry("wp_fixture", NULL);
}

module_init(wp_init);
module_exit(wp_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("waitprof test fixtures: sleeps of known number and length");
