/* SPDX-License-Identifier: GPL-2.0 */
/* What is behind a file. */
#ifndef _WAITPROF_COMPAT_SOCKET_H
#define _WAITPROF_COMPAT_SOCKET_H

#include <linux/net.h>
#include "compat/version.h"

/**
 * waitprof_socket() - the socket behind a file
 * @file: the file
 *
 * Before 5.11 it said, too, what was wrong (dba4a9256bb4).
 *
 * Context: any.
 * Return: the socket; NULL if the file is another.
 */
static inline struct socket *waitprof_socket(struct file *file)
{
#ifndef CONFIG_NET
	return NULL;
#elif WAITPROF_KERNEL_GEQ(5, 11)
	return sock_from_file(file);
#else
	int err;

	return sock_from_file(file, &err);
#endif
}

#endif /* _WAITPROF_COMPAT_SOCKET_H */
