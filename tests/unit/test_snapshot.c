// SPDX-License-Identifier: GPL-2.0
/* What a reader gets: sums over CPUs, the order of rows, and races. */

#include <pthread.h>
#include "machine.h"

static struct sleeper a, b, c;

static void load(unsigned int rows)
{
	machine_load(rows);
	sleeper_init(&a, 101);
	sleeper_init(&b, 102);
	sleeper_init(&c, 103);
	sleeper_at(&a, PIPE_READ);
	sleeper_at(&b, PIPE_READ);
	sleeper_at(&c, BREAD);
}

static struct waitprof_snapshot *take(u64 now)
{
	struct waitprof_snapshot *snap = waitprof_snapshot_alloc();

	shim_clock = now;
	waitprof_snapshot_take(snap);
	return snap;
}

static void test_sums(void)
{
	struct waitprof_snapshot *snap;
	struct waitprof_sum *s;
	u32 row, cpu, i;

	load(32);
	row = row_of(PIPE_READ, WAITPROF_S, 0);
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		struct waitprof_cells *cells = waitprof_cells(cpu, false);
		struct waitprof_cell *cell = &cells->cell[row];

		cell->total_ns = 1000 << cpu;
		cell->runq_ns = 100 << cpu;
		cell->max_ns = cpu == 2 ? 77 : cpu;
		cell->cut = 1;
		cell->cut_ns = 10;
		for (i = 0; i < WAITPROF_BUCKETS; i++)
			cell->hist[i] = i + cpu;
		cells->no_slot = 1;
		cells->late = 2;
		cells->clock_steps = 3;
		cells->cell[WAITPROF_ROW_OTHER].hist[4] = 5;
		cells->cell[WAITPROF_ROW_OTHER].total_ns = 11;
	}
	snap = take(5000);
	s = sum_of(snap, row);
	is(s->total_ns, 15000, "the sum over CPUs");
	is(s->runq_ns, 1500, "also of the run queue");
	is(s->max_ns, 77, "the largest of the longest");
	is(s->hist[7], 4 * 7 + 6, "the sum of a bucket");
	is(s->waits, 4 * 31 * 16 + 6 * 32, "waits are the sum of all buckets");
	is(s->in_flight, 4, "cut waits were in flight");
	is(s->in_flight_ns, 40, "for so long");
	is(snap->lost.no_slot, 4, "no_slot");
	is(snap->lost.late, 8, "late");
	is(snap->lost.clock_steps, 12, "clock_steps");
	is(snap->lost.other, 20, "other");
	is(snap->lost.racing, 0, "racing");
	is(snap->rows_used, 1, "rows used, without (other)");
	is(snap->nsorted, 2, "rows shown, with it");
	ok(snap->sorted[0] == s, "the longest first");
	is_str(snap->sorted[1]->name, "(other)", "then (other)");
	is(snap->sorted[1]->total_ns, 44, "with its time");
	is(s->addr, world_ra(PIPE_READ), "an address");
	is_str(s->name, "pipe_read+0x44/0x800", "a name");
	is(snap->window.end, 5000, "the moment");
	waitprof_snapshot_free(snap);
	machine_unload();
}

static void test_in_flight(void)
{
	struct waitprof_snapshot *snap;
	struct waitprof_sum *s;

	load(32);
	sleep_on(&a, 0, 1000, TASK_INTERRUPTIBLE);
	sleep_on(&b, 1, 3000, TASK_INTERRUPTIBLE);
	snap = take(10000);
	s = sum_of(snap, row_of(PIPE_READ, WAITPROF_S, 0));
	is(s->in_flight, 2, "two in flight");
	is(s->in_flight_ns, 16000, "their time so far");
	is(s->oldest_ns, 9000, "the oldest");
	is(s->oldest_pid, 101, "its task");
	is(s->waits + s->total_ns + s->max_ns, 0, "none is finished");
	ok(snap->sorted[0] == s, "rows with nothing finished are shown");
	waitprof_snapshot_free(snap);

	shim_clock = 12000;
	waitprof_snapshot_close(NULL);
	snap = take(12500);
	s = sum_of(snap, row_of(PIPE_READ, WAITPROF_S, 0));
	is(s->in_flight_ns, 1000, "clipped to the window");
	is(s->oldest_ns, 11500, "but not the oldest");
	waitprof_snapshot_free(snap);

	/* A clock that is behind. */
	snap = take(11000);
	s = sum_of(snap, row_of(PIPE_READ, WAITPROF_S, 0));
	is(s->in_flight_ns, 0, "no time is negative");
	waitprof_snapshot_free(snap);
	snap = take(2000);
	s = sum_of(snap, row_of(PIPE_READ, WAITPROF_S, 0));
	is(s->in_flight_ns, 0, "nor any sum");
	is(s->oldest_ns, 1000, "nor an age");
	waitprof_snapshot_free(snap);
	wake_on(&a, 2, 13000);
	wake_on(&b, 3, 13000);
	snap = take(14000);
	s = sum_of(snap, row_of(PIPE_READ, WAITPROF_S, 0));
	is(s->in_flight + s->oldest_ns + s->oldest_pid, 0, "none in flight");
	is(s->total_ns, 2000, "both finished");
	waitprof_snapshot_free(snap);
	shim_clock = 15000;
	waitprof_snapshot_close(NULL);
	snap = take(16000);
	is(snap->nsorted, 1, "an empty window shows (other) alone");
	is(snap->rows_used, 1, "though the row is there");
	waitprof_snapshot_free(snap);
	machine_unload();
}

static void put(int func, enum waitprof_class class, u32 flags, u64 total,
		u64 waits)
{
	struct waitprof_cell *cell = cell_of(0, row_of(func, class, flags));

	cell->total_ns = total;
	cell->hist[0] = waits;
}

static void test_order(void)
{
	/* By total and in flight, then site, then class. */
	static const struct {
		const char *name;
		u32 kind;
	} wanted[] = {
		{ "site_09+0x44/0x800", WAITPROF_S * 4 },	/* near 2^64 */
		{ "site_01+0x44/0x800", WAITPROF_S * 4 },	/* 2^63 */
		{ "pipe_read+0x44/0x800", WAITPROF_S * 4 },	/* in flight */
		{ "site_03+0x44/0x800", WAITPROF_S * 4 },	/* 700 */
		{ "site_02+0x44/0x800", WAITPROF_S * 4 },	/* 500 from here */
		{ "site_02+0x44/0x800", WAITPROF_D * 4 },
		{ "site_02+0x44/0x800", WAITPROF_D * 4 + 1 },
		{ "site_02+0x44/0x800", WAITPROF_D * 4 + 2 },
		{ "site_02+0x44/0x800", WAITPROF_F * 4 },
		{ "site_04+0x44/0x800", WAITPROF_S * 4 },
		{ "(other)", 0 },				/* 0 from here */
		{ "site_05+0x44/0x800", WAITPROF_S * 4 },
	};
	struct waitprof_snapshot *snap;
	unsigned int i, wrong = 0;

	load(32);
	put(SITES + 5, WAITPROF_S, 0, 0, 1);
	put(SITES + 4, WAITPROF_S, 0, 500, 1);
	put(SITES + 2, WAITPROF_F, 0, 500, 1);
	put(SITES + 2, WAITPROF_D, 1, 500, 1);
	put(SITES + 2, WAITPROF_D, 2, 500, 1);
	put(SITES + 2, WAITPROF_D, 0, 500, 1);
	put(SITES + 2, WAITPROF_S, 0, 500, 1);
	put(SITES + 3, WAITPROF_S, 0, 700, 1);
	put(SITES + 6, WAITPROF_S, 0, 0, 0);	/* nothing to show */
	put(SITES + 1, WAITPROF_S, 0, 1ull << 63, 1);
	put(SITES + 9, WAITPROF_S, 0, ~0ull - 5, 1);
	put(PIPE_READ, WAITPROF_S, 0, 300, 1);
	sleep_on(&a, 0, 1000, TASK_INTERRUPTIBLE);
	snap = take(2000);
	is(snap->nsorted, ARRAY_SIZE(wanted), "rows with nothing are left out");
	for (i = 0; i < snap->nsorted; i++) {
		struct waitprof_sum *s = snap->sorted[i];

		if (strcmp(s->name, wanted[i].name) ||
		    s->kind != wanted[i].kind) {
			printf("# %u: %s %u\n", i, s->name, s->kind);
			wrong++;
		}
	}
	is(wrong, 0, "by total and in flight, then site, then class");
	waitprof_snapshot_free(snap);
	machine_unload();
}

/* Field case B6: more sites than rows, by the whole way. */
static void test_other(void)
{
	struct waitprof_snapshot *snap;
	u64 rows = 0, waits = 0, split = 0;
	u32 i;

	load(8);
	for (i = 0; i < 3 * 40; i++) {
		sleeper_at(&a, SITES + i % 40);
		sleep_on(&a, i % SHIM_CPUS, 10000 * i, TASK_INTERRUPTIBLE);
		wake_on(&a, i % 3, 10000 * i + 1 + i % 40);
	}
	snap = take(10000000);
	for (i = 0; i < snap->nsorted; i++) {
		struct waitprof_sum *s = snap->sorted[i];

		rows += s->total_ns;
		waits += s->waits;
		if (s == sum_of(snap, WAITPROF_ROW_OTHER))
			continue;
		/* each site has slept three times 1 + its number */
		split += s->waits != 3 ||
			 s->total_ns != 3 * (1 + strtol(s->name + 5, NULL, 10));
	}
	is(snap->nsorted, 9, "B6: 8 rows and (other)");
	is(split, 0, "B6: each of the 8 is whole, and its own");
	is(rows, 3 * 40 * 41 / 2, "B6: together all the time");
	is(waits, 120, "B6: and all waits");
	is(snap->lost.other, 3 * 32, "B6: other= says how many");
	waitprof_snapshot_free(snap);

	/* In flight, too. */
	sleeper_at(&a, SITES + 39);
	sleep_on(&a, 0, 20000000, TASK_UNINTERRUPTIBLE);
	snap = take(20000500);
	is(sum_of(snap, WAITPROF_ROW_OTHER)->in_flight_ns, 500,
	   "B6: (other) has waits in flight");
	is(sum_of(snap, WAITPROF_ROW_OTHER)->oldest_pid, 101,
	   "B6: and their task");
	waitprof_snapshot_free(snap);
	machine_unload();
}

/* A wait that ends while the snapshot is taken. cond_resched() comes once in
 * each pass over the slots, and after the cells of each CPU.
 */
static int resched_calls, end_in_call, end_cpu;

static void end_in_resched(void)
{
	if (++resched_calls == end_in_call) {
		int cpu = shim_cpu;

		wake_on(&a, end_cpu, shim_clock);
		shim_cpu = cpu;
	}
}

static void test_racing(void)
{
	int call, cpu, twice = 0, unsaid = 0, missing = 0, counted = 0;

	for (call = 1; call <= 2 + SHIM_CPUS; call++) {
		for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
			struct waitprof_snapshot *snap;
			struct waitprof_sum *s;
			u64 seen;

			load(32);
			/* a slot that is passed after that cond_resched() */
			sleep_on(&a, 0, 1000, TASK_INTERRUPTIBLE);
			resched_calls = 0;
			end_in_call = call;
			end_cpu = cpu;
			shim_on_resched = end_in_resched;
			snap = take(9000);
			shim_on_resched = NULL;
			s = sum_of(snap, row_of(PIPE_READ, WAITPROF_S, 0));
			seen = s->waits + s->in_flight;
			twice += seen > 1;
			missing += !seen;
			counted += s->waits;
			unsaid += !seen && !snap->lost.racing;
			if (seen && s->total_ns + s->in_flight_ns != 8000)
				twice++;
			waitprof_snapshot_free(snap);
			snap = take(9500);
			s = sum_of(snap, row_of(PIPE_READ, WAITPROF_S, 0));
			missing += s->waits != 1 || s->total_ns != 8000 ||
				   s->in_flight || snap->lost.racing ?
				   1000 : 0;
			waitprof_snapshot_free(snap);
			machine_unload();
		}
	}
	is(twice, 0, "racing: no wait is in a snapshot twice");
	is(unsaid, 0, "racing: what is missing is said");
	ok(missing && missing < 1000,
	   "racing: %d are missing, all are in the next", missing);
	ok(counted, "racing: %d were finished in time", counted);
}

/* A cell that was written meanwhile is read again. */
static void end_in_retry(void)
{
	shim_on_retry = NULL;
	wake_on(&a, 0, 9000);
}

static void test_retry(void)
{
	struct waitprof_snapshot *snap;
	struct waitprof_sum *s;

	load(1);	/* (other) is read first, and so both are in time */
	row_of(PIPE_READ, WAITPROF_S, 0);
	sleep_on(&a, 0, 1000, TASK_INTERRUPTIBLE);
	shim_on_retry = end_in_retry;
	snap = take(9000);
	s = sum_of(snap, row_of(PIPE_READ, WAITPROF_S, 0));
	is(s->total_ns, 8000, "retry: in the row");
	waitprof_snapshot_free(snap);
	machine_unload();

	load(1);
	row_of(PIPE_READ, WAITPROF_S, 0);
	sleeper_at(&a, SITES);
	sleep_on(&a, 0, 1000, TASK_INTERRUPTIBLE);
	shim_on_retry = end_in_retry;
	snap = take(9000);
	s = sum_of(snap, WAITPROF_ROW_OTHER);
	is(s->total_ns, 8000, "retry: in (other), whose cell was just read");
	is(s->in_flight, 0, "retry: and no longer in flight");
	is(snap->lost.racing, 1, "retry: counted as racing");
	waitprof_snapshot_free(snap);
	machine_unload();
	sleeper_at(&a, PIPE_READ);
}

/*
 * In truth at once: each thread is a CPU whose tasks sleep and wake as fast as
 * they can, each at a site of its own, while a reader takes snapshots. In each
 * of them a site has at least the waits that had begun before, and at most
 * those that had by its end; what is missing is said. All waits have one length,
 * so that a cell is seen to be of one moment.
 */
enum { WRITERS = 2, OWN = 6, TAKES = 1000, LENGTH = 3000 };

static struct sleeper crowd[WRITERS][OWN];
static u64 begins[WRITERS][OWN], begun[WRITERS][OWN];
static bool stop;
static pthread_barrier_t ready;

static void *write_waits(void *data)
{
	int cpu = (long)data, i;
	u64 asleep[OWN] = {}, now = 0;
	unsigned int state = cpu;

	pthread_barrier_wait(&ready);
	while (!READ_ONCE(stop)) {
		i = tap_random(&state) % OWN;
		if (asleep[i]) {
			wake_on(&crowd[cpu][i], cpu, asleep[i] + LENGTH);
			asleep[i] = 0;
			continue;
		}
		asleep[i] = ++now;
		smp_store_release(&begins[cpu][i], begins[cpu][i] + 1);
		sleep_on(&crowd[cpu][i], cpu, now, TASK_INTERRUPTIBLE);
		smp_store_release(&begun[cpu][i], begun[cpu][i] + 1);
	}
	return NULL;
}

static void test_at_once(void)
{
	u64 before[WRITERS][OWN], twice = 0, unsaid = 0, racing = 0, waits = 0;
	u64 torn = 0;
	pthread_t thread[WRITERS];
	u32 row[WRITERS][OWN];
	int i, j, n;

	load(32);
	for (i = 0; i < WRITERS; i++) {
		for (j = 0; j < OWN; j++) {
			sleeper_init(&crowd[i][j], 100 + 10 * i + j);
			sleeper_at(&crowd[i][j], SITES + OWN * i + j);
			row[i][j] = row_of(SITES + OWN * i + j, WAITPROF_S, 0);
		}
	}
	pthread_barrier_init(&ready, NULL, WRITERS + 1);
	for (i = 0; i < WRITERS; i++)
		if (pthread_create(&thread[i], NULL, write_waits,
				   (void *)(long)i))
			abort();
	pthread_barrier_wait(&ready);
	for (n = 0; n < TAKES; n++) {
		struct waitprof_snapshot *snap;
		u64 missing = 0;

		for (i = 0; i < WRITERS; i++)
			for (j = 0; j < OWN; j++)
				before[i][j] = smp_load_acquire(&begun[i][j]);
		snap = take(0);
		for (i = 0; i < WRITERS; i++) {
			for (j = 0; j < OWN; j++) {
				struct waitprof_sum *s = sum_of(snap, row[i][j]);
				u64 seen = s->waits + s->in_flight;

				twice += seen >
					 smp_load_acquire(&begins[i][j]);
				torn += s->total_ns != s->waits * LENGTH ||
					s->hist[1] != s->waits;
				if (seen < before[i][j])
					missing += before[i][j] - seen;
				waits = max(waits, s->waits);
			}
		}
		unsaid += missing > snap->lost.racing;
		racing += snap->lost.racing;
		waitprof_snapshot_free(snap);
	}
	WRITE_ONCE(stop, true);
	for (i = 0; i < WRITERS; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&ready);
	is(twice, 0, "at once: no wait is in a snapshot twice (%llu waits of one)",
	   waits);
	is(torn, 0, "at once: each cell is of one moment");
	is(unsaid, 0, "at once: what is missing is said (%llu racing)", racing);
	for (i = 0; i < WRITERS; i++)
		for (j = 0; j < OWN; j++)
			free(crowd[i][j].stack.word);
	machine_unload();
}

static void test_memory(void)
{
	struct waitprof_snapshot *snap;
	int left;

	load(32);
	for (left = 0; left < 3; left++) {
		unsigned long before = shim_allocs;

		shim_alloc_left = left;
		snap = waitprof_snapshot_alloc();
		shim_alloc_left = -1;
		ok(!snap && shim_allocs == before,
		   "no memory for part %d: nothing is left", left);
	}
	waitprof_snapshot_free(NULL);
	machine_unload();
	is(shim_allocs, 0, "all memory is given back");
}

/* A full table and all rows shown: the arrays are large enough. */
static void test_all_rows(void)
{
	struct waitprof_snapshot *snap;
	u32 i;

	load(8);
	for (i = 0; i < 8; i++)
		put(SITES + i, WAITPROF_S, 0, i, 1);
	snap = take(10);
	is(snap->nsorted, 9, "all rows and (other)");
	is(snap->rows_used, 8, "all are used");
	waitprof_snapshot_free(snap);
	machine_unload();
}

int main(void)
{
	world_init();
	test_sums();
	test_in_flight();
	test_order();
	test_other();
	test_racing();
	test_all_rows();
	test_retry();
	test_at_once();
	test_memory();
	free(a.stack.word);
	free(b.stack.word);
	free(c.stack.word);
	free(machine_idle.stack.word);
	return tap_done();
}
