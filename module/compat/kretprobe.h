/* SPDX-License-Identifier: GPL-2.0 */
/* Return probes. */
#ifndef _WAITPROF_COMPAT_KRETPROBE_H
#define _WAITPROF_COMPAT_KRETPROBE_H

#include <linux/kprobes.h>
#include "compat/version.h"

/* get_kretprobe() came in 5.11, d741bf41d7c7. */
static inline struct kretprobe *
waitprof_kretprobe(struct kretprobe_instance *ri)
{
#if WAITPROF_KERNEL_GEQ(5, 11)
	return get_kretprobe(ri);
#else
	return ri->rp;
#endif
}

#endif /* _WAITPROF_COMPAT_KRETPROBE_H */
