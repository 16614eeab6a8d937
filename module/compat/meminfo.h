/* SPDX-License-Identifier: GPL-2.0 */
/* Where the kernel keeps the numbers of /proc/meminfo. */
#ifndef _WAITPROF_COMPAT_MEMINFO_H
#define _WAITPROF_COMPAT_MEMINFO_H

#include <linux/mm.h>
#include <linux/vmstat.h>
#include "compat/version.h"

/**
 * struct waitprof_meminfo - free memory and where the rest went, in KiB
 * @total: MemTotal
 * @free: MemFree
 * @available: MemAvailable
 * @low_free: LowFree; the same as MemFree where there is no high memory
 * @buffers: Buffers
 * @cached: Cached
 * @slab: Slab
 * @slab_reclaimable: SReclaimable
 */
struct waitprof_meminfo {
	unsigned long total, free, available, low_free;
	unsigned long buffers, cached, slab, slab_reclaimable;
};

static inline void waitprof_meminfo(struct waitprof_meminfo *mi)
{
	const unsigned int kb = PAGE_SHIFT - 10;
	unsigned long cached = global_node_page_state(NR_FILE_PAGES);
	unsigned long slab_r =
		global_node_page_state_pages(NR_SLAB_RECLAIMABLE_B);
	struct sysinfo i;

	si_meminfo(&i);
	/* NR_SWAPCACHE came in 5.12, b6038942480e; before, the swap cache
	 * cannot be told apart.
	 */
#if WAITPROF_KERNEL_GEQ(5, 12) && defined(CONFIG_SWAP)
	cached -= min(cached, global_node_page_state(NR_SWAPCACHE));
#endif
	cached -= min(cached, i.bufferram);
	mi->total = i.totalram << kb;
	mi->free = i.freeram << kb;
	mi->available = si_mem_available() << kb;
	mi->low_free = (i.freeram - i.freehigh) << kb;
	mi->buffers = i.bufferram << kb;
	mi->cached = cached << kb;
	mi->slab = (slab_r +
		    global_node_page_state_pages(NR_SLAB_UNRECLAIMABLE_B)) << kb;
	mi->slab_reclaimable = slab_r << kb;
}

#endif /* _WAITPROF_COMPAT_MEMINFO_H */
