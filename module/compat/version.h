/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernels that waitprof is for. Version tests live in this folder alone;
 * each names the commit or the version that made it necessary and goes when
 * the floor passes it.
 */
#ifndef _WAITPROF_COMPAT_VERSION_H
#define _WAITPROF_COMPAT_VERSION_H

#include <linux/version.h>

#define WAITPROF_KERNEL_GEQ(a, b) (LINUX_VERSION_CODE >= KERNEL_VERSION(a, b, 0))

#if !WAITPROF_KERNEL_GEQ(5, 10)
#error "waitprof needs Linux 5.10 or newer"
#endif

#if !(defined(CONFIG_X86_64) || defined(CONFIG_ARM64)) || !defined(CONFIG_SMP)
#error "waitprof is for x86-64 and arm64 with CONFIG_SMP so far"
#endif

#if defined(CONFIG_X86_64) && !defined(CONFIG_UNWINDER_ORC)
#error "waitprof needs a kernel with CONFIG_UNWINDER_ORC"
#endif

#ifndef CONFIG_KPROBES
#error "waitprof needs a kernel with CONFIG_KPROBES"
#endif

#ifndef CONFIG_TRACEPOINTS
#error "waitprof needs a kernel with CONFIG_TRACEPOINTS"
#endif

#endif /* _WAITPROF_COMPAT_VERSION_H */
