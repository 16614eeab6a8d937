// SPDX-License-Identifier: GPL-2.0
/*
 * A raw character device of the shape that Linux 2.4 had: each open takes a
 * kiobuf, and each kiobuf takes buffer heads in advance.
 *
 *	raw_open -> alloc_kiovec -> alloc_kiobuf_bhs -> alloc_buffer_head * bhs
 *
 * 2.4.16 took a kiobuf for each open; 2.4.6 one for each device (shared=1).
 * The fixes that followed halved the number of buffer heads (bhs=512), or took
 * one for a page of half the size (bhs=64).
 */

#include <linux/buffer_head.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include "raw.h"

static unsigned int bhs = 1024;
module_param(bhs, uint, 0444);
MODULE_PARM_DESC(bhs, "buffer heads of a kiobuf (default: 1024)");

static bool shared;
module_param(shared, bool, 0444);
MODULE_PARM_DESC(shared, "one kiobuf a device, for all its opens (default: N)");

#define WP_RAW_MINORS	256

struct kiobuf {
	unsigned int nr;
	struct buffer_head *bh[];
};

static struct {
	struct kiobuf *kiobuf;
	unsigned int opens;
} wp_raw_device[WP_RAW_MINORS];

static DEFINE_MUTEX(wp_raw_lock);	/* wp_raw_device */
static int wp_raw_major;

noinline int alloc_kiobuf_bhs(struct kiobuf *k)
{
	for (; k->nr < bhs; k->nr++) {
		k->bh[k->nr] = alloc_buffer_head(GFP_KERNEL);
		if (!k->bh[k->nr])
			return -ENOMEM;
	}
	return 0;
}

noinline struct kiobuf *alloc_kiovec(void)
{
	struct kiobuf *k = kvzalloc(struct_size(k, bh, bhs), GFP_KERNEL);

	if (k && alloc_kiobuf_bhs(k)) {
		free_kiovec(k);
		return NULL;
	}
	return k;
}

noinline void free_kiovec(struct kiobuf *k)
{
	while (k->nr)
		free_buffer_head(k->bh[--k->nr]);
	kvfree(k);
}

noinline int raw_open(struct inode *inode, struct file *file)
{
	unsigned int minor = iminor(inode) % WP_RAW_MINORS;
	struct kiobuf *k;
	int err = 0;

	mutex_lock(&wp_raw_lock);
	k = shared ? wp_raw_device[minor].kiobuf : NULL;
	if (!k)
		k = alloc_kiovec();
	if (k) {
		wp_raw_device[minor].opens++;
		wp_raw_device[minor].kiobuf = shared ? k : NULL;
		file->private_data = k;
	} else {
		err = -ENOMEM;
	}
	mutex_unlock(&wp_raw_lock);
	return err;
}

noinline int raw_release(struct inode *inode, struct file *file)
{
	unsigned int minor = iminor(inode) % WP_RAW_MINORS;

	mutex_lock(&wp_raw_lock);
	if (!--wp_raw_device[minor].opens || !shared) {
		wp_raw_device[minor].kiobuf = NULL;
		free_kiovec(file->private_data);
	}
	mutex_unlock(&wp_raw_lock);
	return 0;
}

static const struct file_operations wp_raw_fops = {
	.owner = THIS_MODULE,
	.open = raw_open,
	.release = raw_release,
};

static int __init wp_raw_init(void)
{
	wp_raw_major = register_chrdev(0, "wp_raw", &wp_raw_fops);
	return wp_raw_major < 0 ? wp_raw_major : 0;
}

static void __exit wp_raw_exit(void)
{
	unregister_chrdev(wp_raw_major, "wp_raw");
}

module_init(wp_raw_init);
module_exit(wp_raw_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("waitprof test fixture: a raw device as in Linux 2.4");
