/* SPDX-License-Identifier: GPL-2.0 */
/* Poll, as far as a wake-up goes; and sockets. */
#ifndef _SHIM_POLL_H
#define _SHIM_POLL_H

#include "shim_base.h"
#include "shim_proc.h"

#define CONFIG_NET		1

typedef unsigned int __poll_t;

#define key_to_poll(key)	((__poll_t)(unsigned long)(key))

typedef struct wait_queue_entry {
	void *private;
} wait_queue_entry_t;

struct poll_table_entry {
	struct file *filp;
	__poll_t key;
	wait_queue_entry_t wait;
};

struct poll_wqueues {
	struct task_struct *polling_task;
	int triggered;
};

struct proto_ops {
	void (*poll)(void);
};

struct socket {
	const struct proto_ops *ops;
};

#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
static inline struct socket *sock_from_file(struct file *file)
#else
static inline struct socket *sock_from_file(struct file *file, int *err)
#endif
{
	return file->shim_socket;
}

#endif /* _SHIM_POLL_H */
