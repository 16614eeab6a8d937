// SPDX-License-Identifier: GPL-2.0
/* Sites, rows, cells; alone and from several CPUs at once. */

#include <pthread.h>
#include "shim.h"
#include "tap.h"
#include "world.h"
#include "primitives.c"
#include "table.c"

static void load(unsigned int rows)
{
	shim_percpu_reset();
	if (waitprof_table_init(rows, rows))
		abort();
}

static u32 row_of(unsigned long addr, u32 kind)
{
	return waitprof_row(waitprof_site_get(addr), kind);
}

static void test_insert(void)
{
	u32 a, b, ra, rb, rc, site, kind;
	char name[WAITPROF_NAME_LEN];

	load(16);
	a = waitprof_site_get(world_ra(PIPE_READ));
	b = waitprof_site_get(world_ra(BREAD));
	ok(a >= WAITPROF_SITES_FIXED && b >= WAITPROF_SITES_FIXED && a != b,
	   "two addresses, two sites");
	is(waitprof_site_get(world_ra(PIPE_READ)), a, "the same address again");
	ok(waitprof_site_get(world_ra(PIPE_READ) + 1) != a,
	   "another address in the same function is another site");
	is(waitprof_site_addr(a), world_ra(PIPE_READ), "its address");
	waitprof_site_name(a, name, sizeof(name));
	is_str(name, "pipe_read+0x44/0x800", "its name");

	ra = waitprof_row(a, 0);
	rb = waitprof_row(a, WAITPROF_KINDS - 1);
	rc = waitprof_row(b, 0);
	ok(ra >= WAITPROF_ROWS_FIXED && rb >= WAITPROF_ROWS_FIXED &&
	   rc >= WAITPROF_ROWS_FIXED && ra != rb && ra != rc && rb != rc,
	   "site and kind make a row");
	is(waitprof_row(a, 0), ra, "the same row again");
	is(waitprof_row_insert(a, 0), ra, "also for who comes with the insertion");
	ok(waitprof_row_key(rb, &site, &kind) && site == a &&
	   kind == WAITPROF_KINDS - 1, "a row knows its site and kind");
	ok(waitprof_row_key(WAITPROF_ROW_OTHER, &site, &kind) &&
	   site == WAITPROF_SITE_OTHER && !kind, "(other) is always there");

	waitprof_site_name(WAITPROF_SITE_OTHER, name, sizeof(name));
	is_str(name, "(other)", "(other) has a name");
	is(waitprof_row(WAITPROF_SITE_OTHER, 5), WAITPROF_ROW_OTHER,
	   "and one row for all kinds");
	waitprof_site_name(WAITPROF_SITE_UNKNOWN, name, sizeof(name));
	is_str(name, "(unknown)", "(unknown) has a name");
	is(waitprof_site_addr(WAITPROF_SITE_UNKNOWN), 0, "and no address");
	ok(waitprof_row(WAITPROF_SITE_UNKNOWN, 0) !=
	   waitprof_row(WAITPROF_SITE_UNKNOWN, 4), "and rows by kind");
	waitprof_table_exit();
}

/* Field case B6: what is in a row is wholly in it, what is in (other) wholly there. */
static void test_full(unsigned int rows, u32 kinds)
{
	enum { SITES_ASKED = 40, ROUNDS = 50 };
	static u32 row[SITES_ASKED][WAITPROF_KINDS];
	u32 used[80] = {}, own = 0, seen = 0, twice = 0, wrong = 0, moved = 0;
	unsigned int state = rows;
	u32 i, site, kind, n;

	load(rows);
	memset(row, 0xff, sizeof(row));
	for (n = 0; n < ROUNDS * SITES_ASKED * kinds; n++) {
		u32 s = tap_random(&state) % SITES_ASKED;
		u32 k = tap_random(&state) % kinds;
		unsigned long addr = world_ra(SITES + s);
		u32 r = row_of(addr, k);

		if (!r || r >= waitprof_rows_end())
			abort();
		if (row[s][k] == ~0u) {
			row[s][k] = r;
			seen++;
			if (r != WAITPROF_ROW_OTHER)
				twice += used[r]++;
		}
		moved += row[s][k] != r;
		if (r != WAITPROF_ROW_OTHER &&
		    (!waitprof_row_key(r, &site, &kind) || kind != k ||
		     waitprof_site_addr(site) != addr))
			wrong++;
	}
	for (i = WAITPROF_ROWS_FIXED; i < waitprof_rows_end(); i++)
		own += used[i];
	is(seen, SITES_ASKED * kinds, "rows=%u: all %u keys were asked for",
	   rows, SITES_ASKED * kinds);
	is(moved, 0, "rows=%u: none is now here, now there", rows);
	is(twice, 0, "rows=%u: no two share a row", rows);
	is(wrong, 0, "rows=%u: each row is its own key's", rows);
	is(own, rows, "rows=%u: all rows are used", rows);
	waitprof_table_exit();
}

/* Several CPUs, which meet new keys at the same time. */
enum { THREADS = SHIM_CPUS, KEYS = 40, KINDS_ASKED = 3 };
static pthread_barrier_t start_line;

struct worker {
	pthread_t thread;
	int cpu;
	unsigned int seed;
	u32 split;
	u32 row[KEYS][KINDS_ASKED];
	u32 asked[KEYS][KINDS_ASKED];
};

static void *work(void *data)
{
	struct worker *w = data;
	int n;

	shim_cpu = w->cpu;
	memset(w->row, 0xff, sizeof(w->row));
	memset(w->asked, 0, sizeof(w->asked));
	w->split = 0;
	pthread_barrier_wait(&start_line);
	for (n = 0; n < 8 * KEYS; n++) {
		u32 s = tap_random(&w->seed) % KEYS;
		u32 k = tap_random(&w->seed) % KINDS_ASKED;
		u32 row = row_of(world_ra(SITES + s), k);

		w->split += w->row[s][k] != ~0u && w->row[s][k] != row;
		w->row[s][k] = row;
		w->asked[s][k]++;
		this_cpu_read(waitprof_active)->cell[row].hist[0]++;
	}
	return NULL;
}

static void test_threads(unsigned int rows, int rounds)
{
	static struct worker worker[THREADS];
	u32 differ = 0, split = 0, miscounted = 0, shared = 0;
	int round, i, j;

	pthread_barrier_init(&start_line, NULL, THREADS);
	for (round = 0; round < rounds; round++) {
		u64 counted[80] = {}, asked[80] = {};
		int owner[80];
		u32 s, k;

		memset(owner, 0xff, sizeof(owner));
		load(rows);
		for (i = 0; i < THREADS; i++) {
			worker[i].cpu = i;
			worker[i].seed = round * THREADS + i;
			if (pthread_create(&worker[i].thread, NULL, work,
					   &worker[i]))
				abort();
		}
		for (i = 0; i < THREADS; i++) {
			pthread_join(worker[i].thread, NULL);
			split += worker[i].split;
		}
		for (s = 0; s < KEYS; s++) {
			for (k = 0; k < KINDS_ASKED; k++) {
				u32 row = row_of(world_ra(SITES + s), k);
				int key = s * KINDS_ASKED + k;

				if (row != WAITPROF_ROW_OTHER &&
				    owner[row] != -1)
					shared++;
				owner[row] = key;
				for (i = 0; i < THREADS; i++) {
					u32 theirs = worker[i].row[s][k];

					differ += theirs != ~0u && theirs != row;
					asked[row] += worker[i].asked[s][k];
				}
			}
		}
		for (i = 0; i < THREADS; i++)
			for (j = 0; j < waitprof_rows_end(); j++)
				counted[j] += waitprof_cells(i, false)->cell[j].hist[0];
		for (j = 0; j < waitprof_rows_end(); j++)
			miscounted += counted[j] != asked[j];
		waitprof_table_exit();
	}
	pthread_barrier_destroy(&start_line);
	is(split, 0, "threads, rows=%u: a key has one row for a CPU", rows);
	is(differ, 0, "threads, rows=%u: and the same for all CPUs", rows);
	is(shared, 0, "threads, rows=%u: no two keys share a row", rows);
	is(miscounted, 0, "threads, rows=%u: the sum over CPUs of each row is right",
	   rows);
}

static bool match_all(unsigned long ra, struct module *mod)
{
	return within_module(ra, mod);
}

static bool match_init(unsigned long ra, struct module *mod)
{
	return within_module_init(ra, mod);
}

static void test_retire(void)
{
	static const struct shim_symbol other[] = {
		{ WORLD_MODULE, 0x800, "newcomer", "other" },
	};
	char name[WAITPROF_NAME_LEN];
	u32 core, core2, init, vmlinux, again, row;

	load(16);
	vmlinux = waitprof_site_get(world_ra(PIPE_READ));
	core = waitprof_site_get(world_ra(MOD_WAIT));
	core2 = waitprof_site_get(world_ra(MOD_WAIT2));
	init = waitprof_site_get(world_ra(MOD_INIT));
	row = waitprof_row(core, 1);

	ok(waitprof_table_has(match_init, &world_module) &&
	   waitprof_table_has(match_all, &world_module),
	   "a module with sites, and sites in its init part");
	waitprof_table_retire(match_init, &world_module);
	is(waitprof_site_get(world_ra(MOD_WAIT)), core,
	   "a module is live: its code stays");
	ok(!waitprof_table_has(match_init, &world_module) &&
	   waitprof_table_has(match_all, &world_module),
	   "no site is in its init part any more");
	again = waitprof_site_get(world_ra(MOD_INIT));
	ok(again != init && again != WAITPROF_SITE_OTHER, "its init part goes");
	waitprof_site_name(init, name, sizeof(name));
	is_str(name, "mod_init+0x44/0x800 [wpmod]", "the name stays");

	waitprof_table_retire(match_all, &world_module);
	ok(!waitprof_table_has(match_all, &world_module),
	   "a module goes: no site is in it any more");
	shim_symbols = other;
	shim_nsymbols = 1;
	waitprof_site_name(core, name, sizeof(name));
	is_str(name, "mod_wait+0x44/0x800 [wpmod]",
	   "a module goes: a name stays");
	is(waitprof_site_addr(core), world_ra(MOD_WAIT), "and the address");
	is(waitprof_row(core, 1), row, "and the row, for waits that still end");
	again = waitprof_site_get(world_ra(MOD_WAIT));
	ok(again != core && again != core2 && again != init && again != vmlinux &&
	   again != WAITPROF_SITE_OTHER, "the address is another site's now");
	waitprof_site_name(again, name, sizeof(name));
	is_str(name, "newcomer+0x44/0x800 [other]", "with another name");
	is(waitprof_site_get(world_ra(MOD_WAIT)), again, "and stays that");
	ok(waitprof_row(again, 1) != row, "and has a row of its own");
	world_init();
	is(waitprof_site_get(world_ra(PIPE_READ)), vmlinux,
	   "a site elsewhere is still the same");
	waitprof_table_retire(match_all, &world_module);
	waitprof_table_retire(match_all, &world_module);
	ok(waitprof_site_get(world_ra(MOD_WAIT)) != again,
	   "the newcomer goes too, and retiring twice is no harm");
	waitprof_table_exit();

	/* A full table: what is retired makes no room. */
	load(1);
	core = waitprof_site_get(world_ra(MOD_WAIT));
	row = waitprof_row(core, 0);
	ok(core != WAITPROF_SITE_OTHER && row != WAITPROF_ROW_OTHER, "one row, one site");
	waitprof_table_retire(match_all, &world_module);
	is(waitprof_site_get(world_ra(MOD_WAIT)), WAITPROF_SITE_OTHER,
	   "a full table stays full");
	is(row_of(world_ra(PIPE_READ), 0), WAITPROF_ROW_OTHER,
	   "and the rest is in (other)");
	waitprof_table_exit();
}

static void test_names(void)
{
	/* "+0x44/0x800" are 11 more. */
	char longest[WAITPROF_NAME_LEN - 1 - 11 + 1], over[200];
	char name[WAITPROF_NAME_LEN], small[8], wanted[WAITPROF_NAME_LEN];
	struct shim_symbol s[] = {
		{ 0x10000, 0x800, longest }, { 0x20000, 0x800, over },
	};
	u32 site;

	memset(longest, 'l', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	memset(over, 'o', sizeof(over) - 1);
	over[sizeof(over) - 1] = '\0';
	shim_symbols = s;
	shim_nsymbols = 2;

	load(16);
	site = waitprof_site_get(0x10044);
	waitprof_site_name(site, name, sizeof(name));
	sprintf(wanted, "%s+0x44/0x800", longest);
	is_str(name, wanted, "the longest name that fits is whole");
	site = waitprof_site_get(0x20044);
	waitprof_site_name(site, name, sizeof(name));
	memset(wanted, 'o', sizeof(wanted));
	strcpy(wanted + WAITPROF_NAME_LEN - 2, "~");
	is_str(name, wanted, "a longer one is cut, and ends in ~");
	site = waitprof_site_get(0x99999999);
	waitprof_site_name(site, name, sizeof(name));
	is_str(name, "(no symbol)", "an address without a symbol is not shown");
	waitprof_site_name(site, small, sizeof(small));
	ok(strlen(small) < sizeof(small) && strncmp(small, "0x", 2),
	   "nor in a small buffer");

	/* Read between the claim of the key and the writing of the name. */
	world_init();
	site = waitprof_site_get(world_ra(PIPE_READ));
	memset(waitprof_names[site].name, 0, WAITPROF_NAME_LEN);
	waitprof_names[site].addr = 0;
	waitprof_names[site].named = false;
	is(waitprof_site_addr(site), world_ra(PIPE_READ),
	   "a site without a name yet has its address");
	waitprof_site_name(site, name, sizeof(name));
	is_str(name, "pipe_read+0x44/0x800", "and is looked up by the reader");
	waitprof_table_exit();
}

static void test_cells(void)
{
	struct waitprof_cells *first, *second;
	int cpu, bad = 0;

	load(4);
	for (cpu = 0; cpu < shim_cpus; cpu++) {
		struct waitprof_cells *c = waitprof_cells(cpu, false);

		c->start = 10;
		c->epoch = 7;
		c->late = 1;
		c->cell[5].total_ns = 100 + cpu;
		c->cell[1].hist[31] = 1;
	}
	first = waitprof_cells(1, false);
	second = waitprof_cells(1, true);
	waitprof_cells_swap(500);
	for (cpu = 0; cpu < shim_cpus; cpu++) {
		struct waitprof_cells *c = waitprof_cells(cpu, false);

		bad += c->start != 500 || c->epoch != 8 || c->late ||
		       c->cell[5].total_ns || c->cell[1].hist[31];
		c = waitprof_cells(cpu, true);
		bad += c->start != 10 || c->epoch != 7 || c->late != 1 ||
		       c->cell[5].total_ns != 100 + cpu ||
		       c->cell[1].hist[31] != 1;
	}
	is(bad, 0, "swap: a new window on every CPU, the old one whole");
	ok(waitprof_cells(1, false) == second && waitprof_cells(1, true) == first,
	   "the generations have changed places");
	waitprof_cells_clear_spare();
	for (cpu = 0; cpu < shim_cpus; cpu++) {
		struct waitprof_cells *c = waitprof_cells(cpu, true);

		bad += c->start != 10 || c->epoch != 7 || c->late ||
		       c->cell[5].total_ns || c->cell[1].hist[31];
	}
	is(bad, 0, "clear: all but time and number of the window");
	waitprof_cells_swap(900);
	is(waitprof_cells(3, false)->epoch, 9, "the numbers go on");
	is(waitprof_cells(3, false)->start, 900, "and so does the time");
	is(waitprof_cells(3, true)->start, 500, "the window before is kept");
	waitprof_table_exit();
}

static void test_memory(void)
{
	int left, failed = 0, wrong = 0;

	/* 3 tables, 2 generations a CPU. */
	for (left = 0; left < 3 + 2 * SHIM_CPUS; left++) {
		shim_percpu_reset();
		shim_alloc_left = left;
		failed += waitprof_table_init(8, 8) == -ENOMEM;
		wrong += shim_allocs != 0;
	}
	shim_alloc_left = -1;
	is(failed, left, "each allocation that fails is noticed");
	is(wrong, 0, "and nothing is left");
	load(8);
	is(waitprof_table_bytes(),
	   2 * SHIM_CPUS * (sizeof(struct waitprof_cells) +
			    10 * sizeof(struct waitprof_cell)) +
	   11 * (sizeof(struct waitprof_site) +
		 sizeof(struct waitprof_site_name)) + 10 * sizeof(u32),
	   "the memory is stated");
	waitprof_table_exit();
	is(shim_allocs, 0, "and given back");
}

int main(void)
{
	world_init();
#ifndef __SANITIZE_THREAD__
	test_insert();
	test_full(8, 1);
	test_full(8, 5);
	test_full(1, 2);
	test_full(13, 7);
	test_retire();
	test_names();
	world_init();
	test_cells();
	test_memory();
#endif
	test_threads(8, 150);
	test_threads(48, 150);
	return tap_done();
}
