// SPDX-License-Identifier: GPL-2.0
/* AGGREGATE: sites, rows and cells. See table.h for the rules. */

#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>
#include "primitives.h"
#include "table.h"

/* No instruction lies there, so no return address is equal to it. */
#define WAITPROF_KEY_RETIRED	1ul

struct waitprof_site *waitprof_sites;
static struct waitprof_site_name *waitprof_names;
static u32 *waitprof_keys;		/* of rows: site * KINDS + kind */
static u32 waitprof_nrows;		/* without (other) */
static u32 waitprof_sites_free;		/* without those that are fixed */

/* The generation in use, and the one that the next reset will put there. */
DEFINE_PER_CPU(struct waitprof_cells *, waitprof_active);
static DEFINE_PER_CPU(struct waitprof_cells *, waitprof_spare);

static u32 waitprof_nsites(void)
{
	return WAITPROF_SITES_FIXED + waitprof_sites_free;
}

/**
 * waitprof_rows_end() - one more than the highest number of a row
 */
u32 waitprof_rows_end(void)
{
	return WAITPROF_ROWS_FIXED + waitprof_nrows;
}

static size_t waitprof_cells_size(void)
{
	return struct_size((struct waitprof_cells *)NULL, cell,
			   waitprof_rows_end());
}

/**
 * waitprof_site_get() - the site of a return address, inserted if it is new
 * @addr: the return address; never 0
 *
 * Reads the whole table for an address that is not there: for the slow path.
 *
 * Context: any with preemption off.
 * Return: its number; %WAITPROF_SITE_OTHER when the table is full.
 */
u32 waitprof_site_get(unsigned long addr)
{
	u32 n = waitprof_sites_free, hash = (addr ^ addr >> 16) % n, i;

	for (i = 0; i < n; i++) {
		u32 site = WAITPROF_SITES_FIXED + (hash + i) % n;
		struct waitprof_site_name *s = &waitprof_names[site];
		unsigned long key = READ_ONCE(s->key);

		if (!key)
			key = cmpxchg(&s->key, 0, addr);
		if (key == addr)
			return site;
		if (key)
			continue;

		/* Ours. The name is in the way of nobody: who reads the row
		 * before it is there looks the address up himself.
		 */
		s->addr = addr;
		if (snprintf(s->name, sizeof(s->name), "%pB", (void *)addr) >=
		    sizeof(s->name))
			s->name[sizeof(s->name) - 2] = '~';
		s->polls = waitprof_polls(s->name);
		smp_store_release(&s->named, true); /* waitprof_site_name() */
		return site;
	}
	return WAITPROF_SITE_OTHER;
}

/**
 * waitprof_row_insert() - the row of a site and a kind, the first time
 * @site: from waitprof_site_get()
 * @kind: see WAITPROF_KINDS
 *
 * Context: any with preemption off.
 * Return: the number of the row; %WAITPROF_ROW_OTHER when the table is full.
 */
u32 waitprof_row_insert(u32 site, u32 kind)
{
	u32 key = site * WAITPROF_KINDS + kind;
	u32 n = waitprof_nrows, i;
	u32 row = WAITPROF_ROW_OTHER;

	for (i = 0; site != WAITPROF_SITE_OTHER && i < n; i++) {
		u32 *p = &waitprof_keys[WAITPROF_ROWS_FIXED + (key + i) % n];
		u32 old = READ_ONCE(*p);

		if (!old)
			old = cmpxchg(p, 0, key);
		if (!old || old == key) {
			row = p - waitprof_keys;
			break;
		}
	}
	/* Whoever else looks for it finds the same. */
	WRITE_ONCE(waitprof_sites[site].row[kind], row);
	return row;
}

static bool waitprof_site_matches(struct waitprof_site_name *s,
				  bool (*match)(unsigned long ra,
						struct module *mod),
				  struct module *mod)
{
	unsigned long key = READ_ONCE(s->key);

	return key && key != WAITPROF_KEY_RETIRED && match(key, mod);
}

/**
 * waitprof_table_has() - is there a site in a module?
 * @match: does an address lie there?
 * @mod: the module
 */
bool waitprof_table_has(bool (*match)(unsigned long ra, struct module *mod),
			struct module *mod)
{
	u32 site;

	for (site = WAITPROF_SITES_FIXED; site < waitprof_nsites(); site++)
		if (waitprof_site_matches(&waitprof_names[site], match, mod))
			return true;
	return false;
}

/**
 * waitprof_table_retire() - forget the addresses of a module that goes
 * @match: does an address lie there?
 * @mod: the module
 *
 * Rows stay, and keep their names. The addresses may be another module's
 * tomorrow, which then gets sites of its own.
 *
 * Context: process; the memo has already forgotten them (waitprof_site_gone()).
 */
void waitprof_table_retire(bool (*match)(unsigned long ra, struct module *mod),
			   struct module *mod)
{
	u32 site;

	for (site = WAITPROF_SITES_FIXED; site < waitprof_nsites(); site++)
		if (waitprof_site_matches(&waitprof_names[site], match, mod))
			WRITE_ONCE(waitprof_names[site].key,
				   WAITPROF_KEY_RETIRED);
}

/**
 * waitprof_row_key() - what a row stands for
 * @row: its number
 * @site: gets the site
 * @kind: gets the kind
 *
 * Return: whether that row is in use.
 */
bool waitprof_row_key(u32 row, u32 *site, u32 *kind)
{
	u32 key = READ_ONCE(waitprof_keys[row]);

	if (row == WAITPROF_ROW_OTHER) {
		*site = WAITPROF_SITE_OTHER;
		*kind = 0;
		return true;
	}
	if (!key)
		return false;
	*site = key / WAITPROF_KINDS;
	*kind = key % WAITPROF_KINDS;
	return true;
}

/**
 * waitprof_row_polls() - is it a wait for files, in poll or select?
 * @row: number of the row
 *
 * Context: any with preemption off.
 */
bool waitprof_row_polls(u32 row)
{
	u32 site, kind;

	return waitprof_row_key(row, &site, &kind) &&
	       READ_ONCE(waitprof_names[site].polls);
}

/**
 * waitprof_site_addr() - the address of a site
 * @site: its number
 *
 * Return: the return address; 0 for the sites in brackets.
 */
unsigned long waitprof_site_addr(u32 site)
{
	struct waitprof_site_name *s = &waitprof_names[site];

	/* Pairs with waitprof_site_get(); before that the key is the address,
	 * for a site is named long before its module can go.
	 */
	return smp_load_acquire(&s->named) ? s->addr : READ_ONCE(s->key);
}

/**
 * waitprof_site_name() - the name of a site
 * @site: its number
 * @buf: gets it
 * @size: of @buf
 *
 * A return address without a symbol reads "(no symbol)": the address itself
 * is not for everybody.
 */
void waitprof_site_name(u32 site, char *buf, size_t size)
{
	struct waitprof_site_name *s = &waitprof_names[site];

	if (smp_load_acquire(&s->named))	/* waitprof_site_get() */
		strscpy(buf, s->name, size);
	else
		snprintf(buf, size, "%pB", (void *)READ_ONCE(s->key));
	if (!strncmp(buf, "0x", 2))
		strscpy(buf, "(no symbol)", size);
}

/**
 * waitprof_cells() - the cells of a CPU
 * @cpu: the CPU
 * @spare: not those in use, but the others
 */
struct waitprof_cells *waitprof_cells(int cpu, bool spare)
{
	return spare ? per_cpu(waitprof_spare, cpu) :
		       per_cpu(waitprof_active, cpu);
}

/**
 * waitprof_cells_swap() - begin a new window
 * @now: ns of waitprof_clock()
 *
 * The spare generation must be clear. What was in use is the spare one from
 * now on, but is not complete before synchronize_rcu() and what record.c has
 * to do about waits that straddle the swap.
 *
 * Context: process, one at a time.
 */
void waitprof_cells_swap(u64 now)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct waitprof_cells *old = per_cpu(waitprof_active, cpu);
		struct waitprof_cells *new = per_cpu(waitprof_spare, cpu);

		new->start = now;
		new->epoch = old->epoch + 1;
		per_cpu(waitprof_spare, cpu) = old;
		/* The spare one first, for waitprof_straddle(). Pairs with the
		 * loads in waitprof_record_switch(): those of the cells hang on
		 * this pointer, that of the spare one is later and on its CPU.
		 */
		smp_store_release(&per_cpu(waitprof_active, cpu), new);
	}
}

static void waitprof_cells_clear(struct waitprof_cells *c)
{
	u64 start = c->start;
	u32 epoch = c->epoch;

	memset(c, 0, waitprof_cells_size());
	seqcount_init(&c->seq);
	c->start = start;
	c->epoch = epoch;
}

/**
 * waitprof_cells_clear_spare() - make ready for the next swap
 *
 * The time and the number of the window stay, for waits that began in it.
 *
 * Context: process, one at a time, when nobody writes the spare cells.
 */
void waitprof_cells_clear_spare(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		waitprof_cells_clear(per_cpu(waitprof_spare, cpu));
		cond_resched();
	}
}

static void waitprof_site_fixed(u32 site, const char *name)
{
	strscpy(waitprof_names[site].name, name, WAITPROF_NAME_LEN);
	waitprof_names[site].named = true;
}

/**
 * waitprof_table_init() - get the memory for sites, rows and cells
 * @rows: how many rows
 * @sites: how many sites
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM, then nothing is left.
 */
int waitprof_table_init(unsigned int rows, unsigned int sites)
{
	int cpu;

	waitprof_nrows = rows;
	waitprof_sites_free = sites;
	waitprof_keys = kvcalloc(waitprof_rows_end(), sizeof(*waitprof_keys),
				 GFP_KERNEL);
	waitprof_sites = kvcalloc(waitprof_nsites(), sizeof(*waitprof_sites),
				  GFP_KERNEL);
	waitprof_names = kvcalloc(waitprof_nsites(), sizeof(*waitprof_names),
				  GFP_KERNEL);
	if (!waitprof_keys || !waitprof_sites || !waitprof_names)
		goto out_free;

	for_each_possible_cpu(cpu) {
		int node = cpu_to_node(cpu);

		per_cpu(waitprof_active, cpu) =
			vzalloc_node(waitprof_cells_size(), node);
		per_cpu(waitprof_spare, cpu) =
			vzalloc_node(waitprof_cells_size(), node);
		if (!per_cpu(waitprof_active, cpu) ||
		    !per_cpu(waitprof_spare, cpu))
			goto out_free;
		waitprof_cells_clear(per_cpu(waitprof_active, cpu));
		waitprof_cells_clear(per_cpu(waitprof_spare, cpu));
	}
	waitprof_site_fixed(WAITPROF_SITE_OTHER, "(other)");
	waitprof_site_fixed(WAITPROF_SITE_UNKNOWN, "(unknown)");
	return 0;

out_free:
	waitprof_table_exit();
	return -ENOMEM;
}

/**
 * waitprof_table_exit() - give it back
 *
 * Context: process, when no probe runs any more.
 */
void waitprof_table_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		vfree(per_cpu(waitprof_active, cpu));
		vfree(per_cpu(waitprof_spare, cpu));
	}
	kvfree(waitprof_names);
	kvfree(waitprof_sites);
	kvfree(waitprof_keys);
}

/**
 * waitprof_table_bytes() - the memory of all this
 */
u64 waitprof_table_bytes(void)
{
	return (u64)num_possible_cpus() * 2 * waitprof_cells_size() +
	       (u64)waitprof_nsites() * (sizeof(*waitprof_sites) +
					 sizeof(*waitprof_names)) +
	       (u64)waitprof_rows_end() * sizeof(*waitprof_keys);
}
