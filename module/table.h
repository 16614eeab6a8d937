/* SPDX-License-Identifier: GPL-2.0 */
/*
 * AGGREGATE: sites, rows, and for each CPU the cells that are added to.
 *
 * Sites and rows are global, preallocated and only ever inserted into. A key
 * is one word and is good from the moment of its compare-and-swap, so nobody
 * waits for another's insertion. A table is dense: it is searched to its end,
 * and a key that found no place once never finds one later. Hence a (site,
 * kind) either has a row or is wholly in (other).
 *
 * Each CPU has two generations of cells, an array indexed by row. Cells are
 * written by their own CPU alone and with interrupts off, by the sched_switch
 * probe above all; so they need neither lock nor atomic. A reset swaps the
 * generations.
 */
#ifndef _WAITPROF_TABLE_H
#define _WAITPROF_TABLE_H

#include <linux/compiler.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/seqlock.h>
#include <linux/types.h>
#include "waitprof.h"

#define WAITPROF_ROWS_MIN	1u
#define WAITPROF_ROWS_DEFAULT	768u
#define WAITPROF_ROWS_MAX	8192u

/* What a site is called is kept, since its module may go. Longer names, of
 * which C has none, end in "~".
 */
#define WAITPROF_NAME_LEN	120

/* Rows and sites are numbered from 1; 0 is none. The first of each is for all
 * that found no place of its own.
 */
#define WAITPROF_ROW_OTHER	1u
#define WAITPROF_ROWS_FIXED	2u
#define WAITPROF_SITE_OTHER	1u
/* A stack that could not be read. */
#define WAITPROF_SITE_UNKNOWN	2u
#define WAITPROF_SITES_FIXED	3u

/**
 * struct waitprof_site - a call site
 * @row: number of its row for each kind; 0 as long as it was not asked for
 */
struct waitprof_site {
	u16 row[WAITPROF_KINDS];
};

/**
 * struct waitprof_site_name - what the report says of a site
 * @key: the return address; %WAITPROF_KEY_RETIRED when its module has gone
 * @addr: the return address, kept for good
 * @named: whether @name is written
 * @polls: the function waits for files, see waitprof_polls()
 * @name: symbol+offset/size [module]
 */
struct waitprof_site_name {
	unsigned long key;
	unsigned long addr;
	bool named;
	bool polls;
	char name[WAITPROF_NAME_LEN];
};

/**
 * struct waitprof_cell - the finished waits of a row on one CPU
 * @total_ns: their time
 * @runq_ns: that part of it that was spent on the run queue
 * @max_ns: the longest
 * @hist: how many, by length; their sum is the number of waits
 * @cut_ns: time before the end of this window of waits that ended after it
 * @cut: how many those are
 */
struct waitprof_cell {
	u64 total_ns;
	u64 runq_ns;
	u64 max_ns;
	u64 hist[WAITPROF_BUCKETS];
	u64 cut_ns;
	u64 cut;
};

/**
 * struct waitprof_cells - one CPU's cells of one generation
 * @start: when the window began, ns of waitprof_clock()
 * @epoch: number of the window
 * @seq: for those who read while a cell is being written
 * @no_slot: waits that found no slot
 * @late: waits whose site should have been found beforehand, and was not
 * @clock_steps: ends that came before their beginning
 * @cell: by row
 */
struct waitprof_cells {
	u64 start;
	u32 epoch;
	seqcount_t seq;
	u64 no_slot;
	u64 late;
	u64 clock_steps;
	struct waitprof_cell cell[];
};

extern struct waitprof_site *waitprof_sites;
DECLARE_PER_CPU(struct waitprof_cells *, waitprof_active);

u32 waitprof_row_insert(u32 site, u32 kind);
u32 waitprof_site_get(unsigned long addr);

/**
 * waitprof_row() - the row of a site and a kind
 * @site: from waitprof_site_get()
 * @kind: see WAITPROF_KINDS
 *
 * Context: any with preemption off.
 */
static __always_inline u32 waitprof_row(u32 site, u32 kind)
{
	u32 row = READ_ONCE(waitprof_sites[site].row[kind]);

	return likely(row) ? row : waitprof_row_insert(site, kind);
}

int waitprof_table_init(unsigned int rows, unsigned int sites);
void waitprof_table_exit(void);
bool waitprof_table_has(bool (*match)(unsigned long ra, struct module *mod),
			struct module *mod);
void waitprof_table_retire(bool (*match)(unsigned long ra, struct module *mod),
			   struct module *mod);
u64 waitprof_table_bytes(void);

u32 waitprof_rows_end(void);
bool waitprof_row_key(u32 row, u32 *site, u32 *kind);
bool waitprof_row_polls(u32 row);
unsigned long waitprof_site_addr(u32 site);
void waitprof_site_name(u32 site, char *buf, size_t size);

struct waitprof_cells *waitprof_cells(int cpu, bool spare);
void waitprof_cells_swap(u64 now);
void waitprof_cells_clear_spare(void);

#endif /* _WAITPROF_TABLE_H */
