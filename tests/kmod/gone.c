// SPDX-License-Identifier: GPL-2.0
/*
 * A call site in a module that the test unloads afterwards.
 *
 * Write "COUNT MS" to /proc/wp_gone; reading gives the truth lines in the form
 * of /proc/wp_fixture.
 */
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

/* twin.c makes another module of this file. */
#ifndef WP_GONE_NAME
#define WP_GONE_NAME "wp_gone"
#endif

static DEFINE_MUTEX(wp_gone_lock);
static unsigned int wp_gone_calls;
static unsigned long wp_gone_waits;
static u64 wp_gone_total_ns;
static u64 wp_gone_max_ns;

static noinline __noclone void wp_gone_sleep(unsigned int ms)
{
	msleep(ms);
}

static void (*wp_gone_fn)(unsigned int ms) = wp_gone_sleep;

static ssize_t wp_gone_write(struct file *file, const char __user *buf,
			     size_t len, loff_t *pos)
{
	unsigned int count, ms, i;
	char line[32];

	if (!len || len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	line[len] = '\0';
	if (sscanf(line, "%u %u", &count, &ms) != 2 || ms > 600000)
		return -EINVAL;
	for (i = 0; i < count && !signal_pending(current); i++) {
		unsigned long nvcsw = current->nvcsw;
		u64 t = ktime_get_ns();

		READ_ONCE(wp_gone_fn)(ms);
		t = ktime_get_ns() - t;
		nvcsw = current->nvcsw - nvcsw;

		mutex_lock(&wp_gone_lock);
		wp_gone_calls++;
		wp_gone_waits += nvcsw;
		wp_gone_total_ns += t;
		if (t > wp_gone_max_ns)
			wp_gone_max_ns = t;
		mutex_unlock(&wp_gone_lock);
	}
	return len;
}

static int wp_gone_show(struct seq_file *m, void *v)
{
	mutex_lock(&wp_gone_lock);
	seq_printf(m, WP_GONE_NAME "_sleep\tD\t%lu\t%llu\t%llu\t%u\t%lu\tuser\n",
		   wp_gone_waits, wp_gone_total_ns, wp_gone_max_ns,
		   wp_gone_calls, wp_gone_waits);
	mutex_unlock(&wp_gone_lock);
	return 0;
}

static int wp_gone_open(struct inode *inode, struct file *file)
{
	return single_open(file, wp_gone_show, NULL);
}

static const struct proc_ops wp_gone_proc_ops = {
	.proc_open = wp_gone_open,
	.proc_read = seq_read,
	.proc_write = wp_gone_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int __init wp_gone_init(void)
{
	if (!proc_create(WP_GONE_NAME, 0600, NULL, &wp_gone_proc_ops))
		return -ENOMEM;
	return 0;
}

static void __exit wp_gone_exit(void)
{
	remove_proc_entry(WP_GONE_NAME, NULL);
}

module_init(wp_gone_init);
module_exit(wp_gone_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("waitprof test fixture: a call site whose module goes away");
