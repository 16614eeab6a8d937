// SPDX-License-Identifier: GPL-2.0
/*
 * Buffer heads of known number: /proc/wp_leak takes "leak N" (leak_fn allocates
 * N and gives none back), "pair N" (pair_fn allocates one and frees it, N
 * times; prints how long a pair took when it is read), "notrace N" (the same,
 * by functions at whose entries ftrace does not call) and "free".
 */

#include <linux/buffer_head.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include "raw.h"

static LIST_HEAD(wp_leaked);
static DEFINE_MUTEX(wp_leak_lock);	/* all below */
static u64 wp_pair_ns;
static unsigned int wp_pairs;

noinline void leak_fn(unsigned int n)
{
	struct buffer_head *bh;

	while (n--) {
		bh = alloc_buffer_head(GFP_KERNEL);
		if (bh)
			list_add(&bh->b_assoc_buffers, &wp_leaked);
	}
}

noinline void pair_fn(unsigned int n)
{
	u64 start = ktime_get_ns();
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct buffer_head *bh = alloc_buffer_head(GFP_KERNEL);

		if (bh)
			free_buffer_head(bh);
	}
	wp_pair_ns = ktime_get_ns() - start;
	wp_pairs = n;
}

noinline notrace struct buffer_head *notrace_alloc(void)
{
	return alloc_buffer_head(GFP_KERNEL);
}

noinline notrace void notrace_free(struct buffer_head *bh)
{
	free_buffer_head(bh);
}

noinline void notrace_fn(unsigned int n)
{
	while (n--) {
		struct buffer_head *bh = notrace_alloc();

		if (bh)
			notrace_free(bh);
	}
}

static void wp_leak_free(void)
{
	struct buffer_head *bh, *next;

	list_for_each_entry_safe(bh, next, &wp_leaked, b_assoc_buffers) {
		list_del_init(&bh->b_assoc_buffers);
		free_buffer_head(bh);
	}
}

static ssize_t wp_leak_write(struct file *file, const char __user *buf,
			     size_t len, loff_t *pos)
{
	char line[32], word[8];
	unsigned int n = 0;
	ssize_t ret = len;

	if (!len || len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	line[len] = '\0';
	if (sscanf(line, "%7s %u", word, &n) < 1)
		return -EINVAL;
	mutex_lock(&wp_leak_lock);
	if (!strcmp(word, "leak"))
		leak_fn(n);
	else if (!strcmp(word, "pair"))
		pair_fn(n);
	else if (!strcmp(word, "notrace"))
		notrace_fn(n);
	else if (!strcmp(word, "free"))
		wp_leak_free();
	else
		ret = -EINVAL;
	mutex_unlock(&wp_leak_lock);
	return ret;
}

static int wp_leak_show(struct seq_file *m, void *v)
{
	mutex_lock(&wp_leak_lock);
	seq_printf(m, "pairs\t%u\t%llu\n", wp_pairs, wp_pair_ns);
	mutex_unlock(&wp_leak_lock);
	return 0;
}

static int wp_leak_open(struct inode *inode, struct file *file)
{
	return single_open(file, wp_leak_show, NULL);
}

static const struct proc_ops wp_leak_proc_ops = {
	.proc_open = wp_leak_open,
	.proc_read = seq_read,
	.proc_write = wp_leak_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

static int __init wp_leak_init(void)
{
	return proc_create("wp_leak", 0600, NULL, &wp_leak_proc_ops) ? 0 :
								       -ENOMEM;
}

static void __exit wp_leak_exit(void)
{
	remove_proc_entry("wp_leak", NULL);
	wp_leak_free();
}

module_init(wp_leak_init);
module_exit(wp_leak_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("waitprof test fixture: buffer heads of known number");
