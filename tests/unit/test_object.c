// SPDX-License-Identifier: GPL-2.0
/* Trackers and what they count: functions that come and go, windows, peaks,
 * objects that are followed.
 */

#include <pthread.h>
#include "machine.h"
#include "control.c"

static struct sleeper a;
static struct bio bio;

static void load_as(unsigned int batch, unsigned int objects, int paths)
{
	machine_reset();
	memset(&waitprof_control, 0, sizeof(waitprof_control));
	memset(shim_refused, 0, sizeof(shim_refused));
	shim_absent = NULL;
	sleeper_init(&a, 101);
	shim_clock = 1000;
	if (waitprof_table_init(32, 200) || waitprof_site_init() ||
	    waitprof_slot_init(64) || waitprof_path_init(paths, 2) ||
	    waitprof_object_init(batch, objects) || waitprof_tracker_init(3))
		abort();
	waitprof_record_choose();
	if (waitprof_control_start(WAITPROF_HOOK_KPROBE, false))
		abort();
}

static void load(void)
{
	load_as(1, 0, 64);
}

static void unload(void)
{
	waitprof_control_stop();
	if (!shim_unprobed() || waitprof_tracker_lock.locked)
		abort();
	machine_unload();
	if (shim_allocs)
		abort();
}

/* A call of @func by @caller, with one argument. */
static unsigned int call(int func, int caller, unsigned long argument)
{
	struct pt_regs regs = { .ip = 0x1234, .di = argument };

	regs.sp = (unsigned long)world_stack(&a.stack, &a.t, 500,
					     CALLS({ caller, 8 }, { SITES + 30, 6 },
						   { SITES + 31, 4 }));
	shim_current = &a.t;
	return shim_hit(world_addr(func), &regs);
}

static unsigned int calls(int func, int caller, unsigned int n)
{
	while (n--)
		call(func, caller, 1);
	return 0;
}

/* With live=map: handed out by @func, an object or none. */
static void hand_out(int func, int caller, unsigned long object)
{
	call(func, caller, 0);
	shim_return(object);
}

static struct waitprof_tracker_sum sum_at(u32 place, bool spare)
{
	struct waitprof_tracker_sum sum;

	memset(&sum, 0xa5, sizeof(sum));
	waitprof_tracker_sum(place, spare, &sum);
	return sum;
}

static struct waitprof_tracker *find(const char *name)
{
	struct waitprof_tracker *t = waitprof_tracker_find(name);

	if (!t)
		abort();
	return t;
}

static struct waitprof_tracker_sum sum_of_name(const char *name)
{
	return sum_at(find(name)->index, false);
}

#define ALLOCS(name)	(sum_of_name(name).counts.allocs)
#define FREES(name)	(sum_of_name(name).counts.frees)
#define LIVE(name)	live_of(name)
#define PEAK(name)	(sum_of_name(name).peak)

static s64 live_of(const char *name)
{
	struct waitprof_tracker_sum s = sum_of_name(name);

	return waitprof_counts_live(&s.counts);
}

/* Entries of the map, for @object or for any. */
static u32 entries(unsigned long object)
{
	u32 i, n = 0;

	for (i = 0; waitprof_live && i <= waitprof_live_mask; i++)
		n += object ? !((waitprof_live[i].key ^ object) << 4) :
			      !!waitprof_live[i].key;
	return n;
}

/* Is it @n of @name by these two functions? */
static bool counts(const char *name, u64 allocs, u64 frees)
{
	struct waitprof_tracker_sum s = sum_of_name(name);

	if (s.counts.allocs == allocs && s.counts.frees == frees)
		return true;
	printf("# %s: %llu allocs, %llu frees\n", name, s.counts.allocs,
	       s.counts.frees);
	return false;
}

/* Of a path that begins with @caller: allocations, and with live=map those not
 * given back. Paths of @name only.
 */
static struct waitprof_path_sum path_sum(const char *name, int caller,
					 bool spare)
{
	u32 serial = find(name)->serial, sites[WAITPROF_DEPTH_MAX], of, depth;
	struct waitprof_path_sum p = { }, all = { };

	for (p.path = 1; p.path < waitprof_paths_end(); p.path++) {
		if (!waitprof_path_key(p.path, &of, sites, &depth) ||
		    of != serial ||
		    waitprof_site_addr(sites[depth - 1]) != world_ra(caller))
			continue;
		waitprof_object_path_sum(spare, &p);
		all.count += p.count;
		all.live += p.live;
	}
	return all;
}

static void coming(void)
{
	shim_absent = NULL;
	shim_notify(MODULE_STATE_COMING, &world_module);
}

static void going(void)
{
	shim_notify(MODULE_STATE_GOING, &world_module);
	shim_absent = "wpmod";
}

static void test_count(void)
{
	int cpu;

	load();
	ok(waitprof_trackers[0].used && waitprof_trackers[3].used &&
	   !waitprof_trackers[4].used, "four are built in");
	is_str(sum_at(0, false).name, "buffer_head", "the first");
	is(sum_at(0, false).unit, sizeof(struct buffer_head), "its size");
	is(sum_at(1, false).unit, sizeof(struct bio), "that of a bio");
	ok(!sum_at(4, false).used && !sum_at(15, false).used, "no others");
	is_str(sum_at(0, false).note, "alloc_buffer_head,free_buffer_head",
	       "the functions");

	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		shim_cpu = cpu;
		calls(ALLOC_BH, SITES + cpu % 2, 10 + cpu);
		calls(FREE_BH, SITES, 3);
	}
	shim_cpu = 0;
	ok(counts("buffer_head", 46, 12), "allocations and frees, all CPUs");
	is(LIVE("buffer_head"), 34, "live");
	is(path_sum("buffer_head", SITES, false).count, 22, "by path, 0");
	is(path_sum("buffer_head", SITES + 1, false).count, 24, "by path, 1");
	ok(counts("bio", 0, 0), "the others have none");
	ok(!sum_of_name("kiobuf").counted &&
	   !sum_of_name("alloc_kiobuf_bhs").counted, "nor have these numbers");

	is(waitprof_tracker_add("one", "site_00", NULL), 0, "a plain count");
	calls(SITES, SITES + 4, 5);
	ok(counts("one", 5, 0) && !sum_of_name("one").paired, "counts");
	is(find("one")->serial, 4, "has a number that is new");
	is_str(sum_of_name("one").note, "site_00", "its function");

	/* Hits that the kprobes could not take. */
	find("one")->alloc.probe.kp.nmissed = 7;
	find("buffer_head")->alloc.probe.kp.nmissed = 2;
	find("buffer_head")->give_back.probe.kp.nmissed = 3;
	is(sum_of_name("one").missed, 7, "missed");
	is(sum_of_name("buffer_head").missed, 5, "missed, of both");
	waitprof_control_command((char[4]){ "off" }, 3, NULL);
	is(sum_of_name("buffer_head").missed, 5, "missed, while off");
	waitprof_control_command((char[4]){ "on" }, 2, NULL);
	is(sum_of_name("buffer_head").missed, 5, "missed, on again");
	find("buffer_head")->alloc.probe.kp.nmissed++;
	is(sum_of_name("buffer_head").missed, 6, "missed, one more");
	ok(counts("buffer_head", 46, 12), "off and on change no number");
	unload();
}

/* A bio is given back by its last bio_put(). */
static void test_bio(void)
{
	load();
	calls(BIO_ALLOC, SITES, 5);
	memset(&bio, 0, sizeof(bio));
	call(BIO_PUT, SITES, (unsigned long)&bio);
	ok(counts("bio", 5, 1), "without a count of references");
	bio.bi_flags = 1 << BIO_REFFED;
	bio.__bi_cnt.counter = 3;
	call(BIO_PUT, SITES, (unsigned long)&bio);
	bio.__bi_cnt.counter = 2;
	call(BIO_PUT, SITES, (unsigned long)&bio);
	ok(counts("bio", 5, 1), "more than one reference");
	bio.__bi_cnt.counter = 1;
	call(BIO_PUT, SITES, (unsigned long)&bio);
	ok(counts("bio", 5, 2), "the last reference");
	is(sum_of_name("bio").missed, 0, "nothing is missed");
	bio.__bi_cnt.counter = 2;
	call(BIO_PUT, SITES, (unsigned long)&bio);
	call(BIO_PUT, SITES, (unsigned long)&bio);
	ok(counts("bio", 5, 2), "two put the last two at one time");
	is(sum_of_name("bio").missed, 1, "that is missed");
	bio.__bi_cnt.counter = 1;
	call(BIO_PUT, SITES, (unsigned long)&bio);
	bio.__bi_cnt.counter = 2;
	call(BIO_PUT, SITES, (unsigned long)&bio);
	is(sum_of_name("bio").missed, 1, "but not the next life of that bio");
	bio.__bi_cnt.counter = 1;
	call(BIO_PUT, SITES, (unsigned long)&bio);
	ok(counts("bio", 5, 4), "which ends as it should");
	bio.bi_flags = (unsigned short)~(1 << BIO_REFFED);
	bio.__bi_cnt.counter = 3;
	call(BIO_PUT, SITES, (unsigned long)&bio);
	ok(counts("bio", 5, 5), "other flags do not matter");
	call(BIO_PUT, SITES, 0);
	ok(counts("bio", 5, 5), "nothing to put");
	/* Another tracker on the same function is no bio's. */
	is(waitprof_tracker_add("put", "bio_alloc_bioset", "bio_put"), 0,
	   "the same functions again");
	bio.bi_flags = 1 << BIO_REFFED;
	is(call(BIO_PUT, SITES, (unsigned long)&bio), 2, "both are asked");
	ok(counts("bio", 5, 5) && counts("put", 0, 1),
	   "and each counts as it does");
	unload();
}

static void test_window(void)
{
	struct waitprof_snapshot *snap;
	unsigned int state = 5, n, i;
	u64 allocs = 0, frees = 0, total_allocs = 0, total_frees = 0, by_path = 0;

	load();
	calls(ALLOC_BH, SITES, 10);
	waitprof_snapshot_close(NULL);
	ok(counts("buffer_head", 0, 0), "a new window begins at 0");
	is(PEAK("buffer_head"), 0, "with no peak");
	calls(FREE_BH, SITES, 4);
	is(LIVE("buffer_head"), -4, "live is the net of the window, with a sign");
	is(PEAK("buffer_head"), 0, "and the peak is what it was at its beginning");
	calls(ALLOC_BH, SITES, 6);
	is(LIVE("buffer_head"), 2, "net");
	is(PEAK("buffer_head"), 2, "peak");
	calls(FREE_BH, SITES, 1);
	is(PEAK("buffer_head"), 2, "stays");

	waitprof_object_swap();
	is(sum_at(0, true).counts.allocs, 6, "the window that was closed");
	is(sum_at(0, true).counts.frees, 5, "its frees");
	is(sum_at(0, true).peak, 2, "its peak");
	is(path_sum("buffer_head", SITES, true).count, 6, "its paths");
	is(path_sum("buffer_head", SITES, false).count, 0, "are not the next's");
	/* Who still writes to the old cells (they were read before). */
	waitprof_object_clear_spare();
	is(sum_at(0, true).counts.allocs + sum_at(0, true).peak, 0, "cleared");
	calls(ALLOC_BH, SITES, 1);
	ok(counts("buffer_head", 1, 0), "which the next does not mind");
	waitprof_snapshot_close(NULL);

	/* All windows together are all that there was. */
	for (n = 0; n < 200; n++) {
		struct waitprof_tracker_sum *s;

		for (i = tap_random(&state) % 20; i; i--) {
			shim_cpu = tap_random(&state) % SHIM_CPUS;
			if (tap_random(&state) % 5 < 3) {
				calls(ALLOC_BH, SITES + n % 3, 1);
				allocs++;
			} else {
				calls(FREE_BH, SITES, 1);
				frees++;
			}
		}
		snap = waitprof_snapshot_alloc();
		waitprof_snapshot_close(snap);
		s = &snap->objects[0];
		total_allocs += s->counts.allocs;
		total_frees += s->counts.frees;
		for (i = 0; i < snap->npaths; i++)
			by_path += snap->paths[i].count;
		waitprof_snapshot_free(snap);
	}
	is(total_allocs, allocs, "200 windows: allocations");
	is(total_frees, frees, "200 windows: frees");
	is(by_path, allocs, "200 windows: paths");
	shim_cpu = 0;
	unload();
}

/* @batch: what a CPU keeps to itself. */
static void test_peak(unsigned int batch, unsigned int skew)
{
	unsigned int state = batch + skew, n, exact = 0, low = 0, high = 0, runs;
	s64 error = (s64)(batch - 1) * SHIM_CPUS;

	load_as(batch, 0, 64);
	for (runs = 0; runs < 40; runs++) {
		s64 live = 0, peak = 0, got;

		for (n = 0; n < 3000; n++) {
			/* a tide, and storms */
			bool up = tap_random(&state) % 100 <
				  (n / 500 % 2 ? 35 : 65);

			shim_cpu = tap_random(&state) % SHIM_CPUS;
			/* Given back elsewhere than handed out. */
			if (skew)
				shim_cpu = up ? 0 : 1 + shim_cpu % 3;
			calls(up ? ALLOC_BH : FREE_BH, SITES, 1);
			live += up ? 1 : -1;
			peak = max(peak, live);
		}
		got = PEAK("buffer_head");
		is(LIVE("buffer_head") == live, 1, "batch %u, run %u: live",
		   batch, runs);
		exact += got == peak;
		low += got < peak - error;
		high += got > peak;
		waitprof_snapshot_close(NULL);
	}
	is(low, 0, "batch %u%s: the peak is at most %lld too low", batch,
	   skew ? ", frees elsewhere" : "", error);
	if (batch == 1)
		is(exact, runs, "batch 1: the peak is exact");
	shim_cpu = 0;
	unload();
}

/* How far the peak is off at most: one at a time, handed out here and given back
 * there.
 */
static void test_peak_error(void)
{
	unsigned int i, cpu;

	load_as(64, 0, 64);
	for (i = 0; i < 64 * 3; i++) {
		shim_cpu = 0;
		calls(ALLOC_BH, SITES, 1);
		shim_cpu = 1 + i % 3;
		calls(FREE_BH, SITES, 1);
	}
	shim_cpu = 0;
	is(LIVE("buffer_head"), 0, "one at a time: none is live");
	ok(PEAK("buffer_head") <= 1 + 63 * (SHIM_CPUS - 1),
	   "one at a time: at most 63 too high for each other CPU");
	waitprof_snapshot_close(NULL);
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		shim_cpu = cpu;
		calls(ALLOC_BH, SITES, 63);
	}
	is(PEAK("buffer_head"), 4 * 63, "what is live now is never more than the peak");
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		shim_cpu = cpu;
		calls(FREE_BH, SITES, 63);
	}
	ok(PEAK("buffer_head") + 63 * SHIM_CPUS >= 4 * 63,
	   "63 on each CPU: too low by what they keep at most");
	shim_cpu = 0;
	unload();
}

static void *storm(void *arg)
{
	struct sleeper s = { };
	struct pt_regs regs = { .di = 1 };
	unsigned int i;

	shim_cpu = (long)arg;
	sleeper_init(&s, 200 + shim_cpu);
	regs.sp = (unsigned long)world_stack(&s.stack, &s.t, 500,
					     CALLS({ SITES + shim_cpu, 8 },
						   { SITES + 31, 4 }));
	shim_current = &s.t;
	for (i = 0; i < 20000; i++) {
		shim_hit(world_addr(ALLOC_BH), &regs);
		if (i % 4)
			shim_hit(world_addr(FREE_BH), &regs);
	}
	free(s.stack.word);
	return NULL;
}

/* Four CPUs at one time. */
static void test_threads(unsigned int batch)
{
	pthread_t thread[SHIM_CPUS];
	long cpu;

	load_as(batch, 0, 64);
	/* what the unwinder is asked for is not made for threads */
	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		calls(SITES + 9, SITES + cpu, 1);
	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		if (pthread_create(&thread[cpu], NULL, storm, (void *)cpu))
			abort();
	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		pthread_join(thread[cpu], NULL);
	ok(counts("buffer_head", 80000, 60000), "batch %u, four CPUs: all counted",
	   batch);
	ok(PEAK("buffer_head") >= 20000 &&
	   PEAK("buffer_head") <= 20000 + 4 * (s64)batch,
	   "batch %u, four CPUs: the peak, %lld", batch, PEAK("buffer_head"));
	for (cpu = 0; cpu < SHIM_CPUS; cpu++)
		is(path_sum("buffer_head", SITES + cpu, false).count, 20000,
		   "batch %u, four CPUs: path of %ld", batch, cpu);
	unload();
}

static void test_track(void)
{
	const struct kprobe *p;
	char name[16];
	unsigned int i;

	load();
	is(waitprof_tracker_add("bio", "site_00", NULL), -EEXIST, "a name is taken");
	is(waitprof_tracker_add("x", "nowhere", NULL), -ENOENT, "no such function");
	is(waitprof_tracker_add("x", "nowhere", "site_00"), -ENOENT,
	   "no such first function");
	is(waitprof_tracker_add("x", "site_00", "nowhere"), -ENOENT,
	   "no such second function");
	is(shim_probed(world_addr(SITES)), 0, "then there is none on the first");
	shim_refused[0].symbol = "site_01";
	shim_refused[0].err = -EINVAL;
	is(waitprof_tracker_add("x", "site_01", NULL), -EINVAL,
	   "no kprobe can be there");
	is(waitprof_tracker_add("x", "site_00", "site_01"), -EINVAL,
	   "nor on the second");
	is(waitprof_tracker_add("x", "wpmod:mod_alloc", "site_01"), -EINVAL,
	   "nor if it is a module's that is waited for");
	is(shim_probed(world_addr(SITES)) + shim_probed(world_addr(MOD_ALLOC)), 0,
	   "then there is none on the first");
	is(waitprof_tracker_remove("x"), -ENOENT, "nothing of that is left");
	is(waitprof_tracker_remove(""), -ENOENT, "nor is there one without a name");

	for (i = 4; i < WAITPROF_TRACKERS; i++) {
		sprintf(name, "t%u", i);
		if (waitprof_tracker_add(name, "site_00", "site_02"))
			break;
	}
	is(i, WAITPROF_TRACKERS, "16 in all");
	is(shim_probed(world_addr(SITES)), 12, "12 on one function");
	is(waitprof_tracker_add("x", "site_00", NULL), -ENOSPC, "and no more");
	is(waitprof_tracker_add("t5", "nowhere", NULL), -EEXIST,
	   "a name that is taken comes first");
	is(call(SITES, SITES + 3, 0), 12, "all of them");
	for (i = 4; i < WAITPROF_TRACKERS; i++) {
		sprintf(name, "t%u", i);
		if (ALLOCS(name) != 1 || path_sum(name, SITES + 3, false).count != 1)
			break;
	}
	is(i, WAITPROF_TRACKERS, "count, each for itself");
	is(waitprof_tracker_remove("t9"), 0, "remove one");
	is(shim_probed(world_addr(SITES)), 11, "its kprobe has gone");
	is(shim_probed(world_addr(SITES + 2)), 11, "and the other");
	is(waitprof_tracker_add("new", "site_00", NULL), 0, "makes room");
	is(find("new")->index, 9, "there");
	for (i = 0; i < WAITPROF_TRACKERS; i++)
		if (waitprof_tracker_remove(waitprof_trackers[i].name))
			break;
	is(i, WAITPROF_TRACKERS, "all can be removed, those built in too");
	for (i = 0, p = shim_kprobes; p; p = p->shim_next)
		i += p == &waitprof_anchors[0].probe.kp ||
		     p == &waitprof_anchors[1].probe.kp ||
		     p == &waitprof_anchors[2].probe.kp ? 1 : 100;
	is(i, 3, "no probe is left but the module's own");
	is(waitprof_tracker_add("bio", "site_00", NULL), 0, "and a name used again");
	is(sum_of_name("bio").unit, 0, "by what has no known size");
	unload();
}

/* A place is used again. */
static void test_again(void)
{
	struct waitprof_snapshot *snap;
	unsigned int gen, i;
	u32 serial;

	for (gen = 0; gen < 2; gen++) {
		load_as(16, 0, 64);
		is(waitprof_tracker_add("x", "site_00", "site_01"), 0, "track");
		serial = find("x")->serial;
		shim_cpu = 2;
		calls(SITES, SITES + 4, 100);
		calls(SITES + 1, SITES + 4, 30);
		shim_cpu = 0;
		find("x")->alloc.probe.kp.nmissed = 5;
		if (gen) {	/* numbers in the spare cells, too */
			waitprof_object_swap();
			calls(SITES, SITES + 4, 50);
		}
		is(waitprof_tracker_remove("x"), 0, "untrack");
		is(call(SITES, SITES + 4, 0), 0, "nobody counts now");
		is(waitprof_tracker_add("y", "site_00", "site_01"), 0,
		   "track something else");
		is(find("y")->index, 4, "in the same place");
		ok(find("y")->serial != serial, "it has another number");
		ok(counts("y", 0, 0), "it begins at 0");
		is(PEAK("y"), 0, "with no peak");
		is(sum_of_name("y").missed, 0, "nothing missed");
		is(sum_at(4, true).counts.allocs + sum_at(4, true).peak, 0,
		   "nor in the spare cells");
		is(path_sum("y", SITES + 4, false).count, 0, "and no path");
		calls(SITES, SITES + 4, 7);
		ok(counts("y", 7, 0) && PEAK("y") == 7, "what it counts is its own");
		is(path_sum("y", SITES + 4, false).count, 7, "as are its paths");

		snap = waitprof_snapshot_alloc();
		waitprof_snapshot_take(snap);
		for (i = 0; i < snap->npaths; i++) {
			u32 of, sites[WAITPROF_DEPTH_MAX], depth;

			waitprof_path_key(snap->paths[i].path, &of, sites, &depth);
			if (of == serial)
				break;
		}
		ok(snap->npaths && (gen || i < snap->npaths),
		   "the old paths are there, for nobody");
		waitprof_snapshot_free(snap);
		unload();
	}

	/* The same name, the same functions. */
	load();
	waitprof_tracker_add("x", "site_00", NULL);
	calls(SITES, SITES + 4, 3);
	waitprof_tracker_remove("x");
	waitprof_tracker_add("x", "site_00", NULL);
	ok(counts("x", 0, 0) && !path_sum("x", SITES + 4, false).count,
	   "the same again begins at 0");
	unload();
}

/* What is hit while a pair is half in place. */
static int hit_func;

static void hit_meanwhile(struct kprobe *p)
{
	if (hit_func)
		calls(hit_func, SITES + 5, 3);
}

static void test_half(void)
{
	load();
	/* Never half. */
	shim_refused[0].symbol = "site_01";
	shim_refused[0].err = -ENOENT;
	is(waitprof_tracker_add("x", "site_00", "m:site_01"), 0,
	   "the second function is waited for");
	is(shim_probed(world_addr(SITES)), 0, "so there is none on the first");
	ok(!sum_of_name("x").counted, "no numbers");
	is(waitprof_tracker_remove("x"), 0, "removed");

	shim_refused[0].symbol = "free_buffer_head";
	shim_refused[0].err = -ENOENT;
	waitprof_control_command((char[4]){ "off" }, 3, NULL);
	is(waitprof_tracker_remove("buffer_head"), 0, "removed");
	is(waitprof_tracker_add("buffer_head", "alloc_buffer_head",
				"free_buffer_head"), -ENOENT,
	   "a pair without its second function");
	ok(shim_unprobed(), "while off, nothing is left");
	unload();

	/* One that is built in stays, and its row says so. */
	shim_refused[0].symbol = "free_buffer_head";
	shim_refused[0].err = -ENOENT;
	machine_reset();
	memset(&waitprof_control, 0, sizeof(waitprof_control));
	if (waitprof_table_init(32, 200) || waitprof_site_init() ||
	    waitprof_slot_init(64) || waitprof_path_init(64, 2) ||
	    waitprof_object_init(1, 0) || waitprof_tracker_init(16) ||
	    waitprof_control_start(WAITPROF_HOOK_SWITCH, false))
		abort();
	is(shim_probed(world_addr(ALLOC_BH)), 0,
	   "built in, without its second function: none on the first");
	is_str(sum_at(0, false).note, "no free_buffer_head in this kernel",
	       "its row says so");
	ok(!sum_at(0, false).counted, "and has no numbers");
	shim_refused[0].err = -EOPNOTSUPP;
	waitprof_control_command((char[4]){ "off" }, 3, NULL);
	waitprof_control_command((char[4]){ "on" }, 2, NULL);
	is(shim_probed(world_addr(ALLOC_BH)), 0, "no kprobe on the second: none");
	{
		char note[80];

		sprintf(note, "no probe on free_buffer_head: error %d",
			-EOPNOTSUPP);
		is_str(sum_at(0, false).note, note, "its row says so");
	}
	shim_refused[0].symbol = "alloc_buffer_head";
	waitprof_control_command((char[4]){ "off" }, 3, NULL);
	waitprof_control_command((char[4]){ "on" }, 2, NULL);
	is(shim_probed(world_addr(FREE_BH)), 0, "nor on the first: none");
	ok(strstr(sum_at(0, false).note, "alloc_buffer_head"), "its row says so");
	shim_refused[0].symbol = NULL;
	waitprof_control_command((char[4]){ "off" }, 3, NULL);
	waitprof_control_command((char[4]){ "on" }, 2, NULL);
	is(shim_probed(world_addr(FREE_BH)) + shim_probed(world_addr(ALLOC_BH)),
	   2, "both are there at last");
	is_str(sum_at(0, false).note, "alloc_buffer_head,free_buffer_head",
	       "its row says so");
	ok(sum_at(0, false).counted, "and has numbers");
	unload();
}

/* Calls while probes are being put in place or taken away. */
static void test_meanwhile(void)
{
	load();
	shim_on_register = hit_meanwhile;
	hit_func = SITES;
	is(waitprof_tracker_add("x", "site_00", "nowhere"), -ENOENT,
	   "the second function is missing");
	hit_func = 0;
	is(waitprof_tracker_add("y", "site_02", "site_03"), 0,
	   "another comes into its place");
	ok(counts("y", 0, 0), "and does not begin with what was counted meanwhile");
	ok(PEAK("y") == 0, "nor with a peak");
	unload();

	load();
	waitprof_control_command((char[4]){ "off" }, 3, NULL);
	hit_func = SITES;
	is(waitprof_tracker_add("x", "site_00", "site_01"), 0, "track while off");
	hit_func = 0;
	ok(counts("x", 0, 0), "nothing is counted while off");
	unload();

	load();
	hit_func = SITES;
	shim_absent = "wpmod";
	is(waitprof_tracker_add("x", "site_00", "wpmod:mod_free"), 0,
	   "half of a pair is waited for");
	hit_func = 0;
	coming();
	ok(sum_of_name("x").counted, "and comes");
	ok(counts("x", 0, 0), "nothing was counted before");
	shim_on_register = NULL;
	unload();
}

static void test_module(void)
{
	load();
	shim_absent = "wpmod";
	is(waitprof_tracker_add("m", "mod_alloc", "mod_free"), -ENOENT,
	   "a module's function, not loaded, by its name alone");
	is(waitprof_tracker_add("m", "wpmod:mod_alloc", "wpmod:mod_free"), 0,
	   "with that of the module it is waited for");
	is(waitprof_tracker_add("c", "wpmod:mod_wait", NULL), 0,
	   "so is a plain count");
	is_str(sum_of_name("m").note, "no wpmod:mod_alloc in this kernel",
	       "its row says that it is missing");
	ok(!sum_of_name("m").counted, "and has no numbers");

	coming();
	is(shim_probed(world_addr(MOD_ALLOC)), 1, "coming: attached");
	is(shim_probed(world_addr(MOD_FREE)), 1, "coming: to both");
	is(shim_probed(world_addr(MOD_WAIT)), 1, "coming: and the other");
	is_str(sum_of_name("m").note, "mod_alloc [wpmod],mod_free [wpmod]",
	       "coming: its row says so");
	shim_notify(MODULE_STATE_LIVE, &world_module);
	is(shim_probed(world_addr(MOD_ALLOC)), 1, "live: once");
	calls(MOD_ALLOC, MOD_WAIT2, 5);
	calls(MOD_FREE, MOD_WAIT2, 2);
	calls(MOD_WAIT, SITES, 3);
	ok(counts("m", 5, 2) && counts("c", 3, 0), "counted");
	find("m")->alloc.probe.kp.nmissed = 4;

	going();
	is(shim_probed(world_addr(MOD_ALLOC)) + shim_probed(world_addr(MOD_FREE)) +
	   shim_probed(world_addr(MOD_WAIT)), 0, "going: detached");
	is(shim_probed(world_addr(ALLOC_BH)), 1, "going: others are not");
	ok(counts("m", 5, 2) && counts("c", 3, 0), "going: the numbers stay");
	ok(PEAK("m") == 5 && sum_of_name("m").missed == 4, "going: all of them");
	is_str(sum_of_name("m").note, "mod_alloc [wpmod],mod_free [wpmod]",
	       "going: and the row");
	is(path_sum("m", MOD_WAIT2, false).count, 5, "going: and the paths");
	waitprof_control_command((char[4]){ "off" }, 3, NULL);
	waitprof_control_command((char[4]){ "on" }, 2, NULL);
	ok(counts("m", 5, 2), "off and on: the numbers stay");
	is_str(sum_of_name("m").note, "mod_alloc [wpmod],mod_free [wpmod]",
	       "off and on: and the row");

	coming();
	is(shim_probed(world_addr(MOD_ALLOC)) + shim_probed(world_addr(MOD_FREE)),
	   2, "coming again: attached");
	calls(MOD_ALLOC, MOD_WAIT2, 1);
	ok(counts("m", 6, 2), "coming again: and counted on");
	is(sum_of_name("m").missed, 4, "coming again: nothing is missed twice");
	/* Its addresses are others' now: two paths. */
	is(path_sum("m", MOD_WAIT2, false).count, 6, "coming again: all paths");
	{
		u32 of, sites[WAITPROF_DEPTH_MAX], depth, p, n = 0;

		for (p = 1; p < waitprof_paths_end(); p++) {
			struct waitprof_path_sum sum = { .path = p };

			if (!waitprof_path_key(p, &of, sites, &depth) ||
			    of != find("m")->serial)
				continue;
			waitprof_object_path_sum(false, &sum);
			n += !!sum.count;
		}
		is(n, 2, "coming again: by a site that is new");
	}
	going();

	/* While off, nobody comes alive. */
	waitprof_control_command((char[4]){ "off" }, 3, NULL);
	coming();
	ok(shim_unprobed(), "coming while off: not attached");
	waitprof_control_command((char[4]){ "on" }, 2, NULL);
	is(shim_probed(world_addr(MOD_ALLOC)), 1, "on: attached");
	going();
	is(shim_probed(world_addr(MOD_ALLOC)), 0, "going: detached");
	/* A module that has nothing to do with it. */
	{
		static struct module other = { 0x1000, 0x1000, 0x3000, 0x1000 };

		shim_notify(MODULE_STATE_COMING, &other);
		shim_notify(MODULE_STATE_LIVE, &other);
		shim_notify(MODULE_STATE_GOING, &other);
	}
	is(shim_probed(world_addr(ALLOC_BH)) + shim_probed(world_addr(BIO_PUT)), 2,
	   "another module comes and goes");
	unload();
}

/* A pair of which one half is a module's. */
static void test_mixed(void)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		const char *alloc = i ? "site_00" : "wpmod:mod_alloc";
		const char *give = i ? "wpmod:mod_free" : "site_00";
		int mod = i ? MOD_FREE : MOD_ALLOC;

		load();
		shim_absent = "wpmod";
		is(waitprof_tracker_add("x", alloc, give), 0,
		   "half of it a module's, %u", i);
		is(shim_probed(world_addr(SITES)), 0, "the other half waits, %u",
		   i);
		coming();
		is(shim_probed(world_addr(SITES)) + shim_probed(world_addr(mod)),
		   2, "coming: both, %u", i);
		going();
		is(shim_probed(world_addr(SITES)) + shim_probed(world_addr(mod)),
		   0, "going: none, %u", i);
		coming();
		is(shim_probed(world_addr(SITES)) + shim_probed(world_addr(mod)),
		   2, "coming again: both, %u", i);
		is(waitprof_tracker_remove("x"), 0, "removed, %u", i);
		is(shim_probed(world_addr(SITES)) + shim_probed(world_addr(mod)),
		   0, "none, %u", i);
		going();
		unload();
	}

	/* A function that is gone once the module is live. */
	load();
	is(waitprof_tracker_add("i", "wpmod:mod_init", NULL), 0,
	   "a function for init only");
	calls(MOD_INIT, SITES, 1);
	shim_notify(MODULE_STATE_LIVE, &world_module);
	{
		struct module live = world_module;

		/* the kernel has thrown it away, and the kprobe is dead */
		live.init_size = 0;
		shim_notify(MODULE_STATE_GOING, &live);
		ok(!find("i")->alloc.attached, "is not attached when its module has gone");
	}
	ok(counts("i", 1, 0), "has been counted once");
	unload();
}

/* The one who forgets paths comes before the one who forgets sites. */
static void test_order(void)
{
	load();
	ok(shim_notifier == &waitprof_tracker_nb &&
	   shim_notifier->next == &waitprof_module_nb && !shim_notifier->next->next,
	   "two are told of modules, in this order");
	unload();
	ok(!shim_notifier, "and none at the end");
}

static void test_full(void)
{
	struct waitprof_snapshot *snap;
	u64 sum = 0;
	unsigned int i;

	load_as(1, 0, 6);
	for (i = 0; i < 20; i++)
		calls(ALLOC_BH, SITES + i, 1 + i);
	for (i = 0; i < 20; i++)
		calls(ALLOC_BH, SITES + i, 1);
	calls(BIO_ALLOC, SITES, 3);
	snap = waitprof_snapshot_alloc();
	waitprof_snapshot_take(snap);
	for (i = 0; i < snap->npaths; i++)
		sum += snap->paths[i].count;
	is(sum + snap->objects[0].counts.other, 210 + 20,
	   "a full table: with (other), paths are all there is");
	is(snap->npaths, 3, "a full table: two places a path");
	is(snap->objects[1].counts.other, 3, "a full table: (other) of another");
	ok(snap->npaths < 2 || snap->paths[0].count >= snap->paths[1].count,
	   "a full table: the most first");
	for (i = 0; i < 20; i++) {
		u64 n = path_sum("buffer_head", SITES + i, false).count;

		if (n && n != 2 + i)
			break;
	}
	is(i, 20, "a full table: a path is whole, or in (other)");
	waitprof_snapshot_free(snap);
	waitprof_snapshot_close(NULL);
	is(sum_of_name("buffer_head").counts.other, 0, "a new window: none");
	unload();
}

/* live=map. */
static void test_map(void)
{
	struct waitprof_tracker_sum s;
	unsigned int i;

	load_as(1, 1024, 64);
	ok(waitprof_object_mapped(), "map");
	is_str(sum_at(0, false).note, "alloc_buffer_head,free_buffer_head",
	       "map: the functions");
	hand_out(ALLOC_BH, SITES, 0x1000);
	hand_out(ALLOC_BH, SITES, 0x2000);
	hand_out(ALLOC_BH, SITES + 1, 0x3000);
	hand_out(ALLOC_BH, SITES + 1, 0);
	ok(counts("buffer_head", 3, 0), "map: allocations");
	is(sum_of_name("buffer_head").counts.failed, 1, "map: one has failed");
	call(FREE_BH, SITES + 5, 0x1000);
	ok(counts("buffer_head", 3, 1), "map: given back");
	is(path_sum("buffer_head", SITES, false).live, 1, "map: live by path, 0");
	is(path_sum("buffer_head", SITES + 1, false).live, 1, "map: live by path, 1");
	is(path_sum("buffer_head", SITES, false).count, 2, "map: count by path");
	call(FREE_BH, SITES + 5, 0x1000);
	call(FREE_BH, SITES + 5, 0x9990);
	call(FREE_BH, SITES + 5, 0);
	s = sum_of_name("buffer_head");
	ok(counts("buffer_head", 3, 1), "map: what is not known is not counted");
	ok(s.counts.older_frees == 2 || s.counts.older_frees == 3,
	   "map: but is older (%llu)", s.counts.older_frees);
	ok(s.counts.older_frees == 2, "map: nothing given back is nothing");
	is(PEAK("buffer_head"), 3, "map: the peak");

	/* Another window. */
	waitprof_snapshot_close(NULL);
	ok(counts("buffer_head", 0, 0), "map: a new window");
	hand_out(ALLOC_BH, SITES, 0x4000);
	call(FREE_BH, SITES, 0x2000);
	ok(counts("buffer_head", 1, 0), "map: an older object");
	is(sum_of_name("buffer_head").counts.older_frees, 1, "map: is counted as that");
	is(path_sum("buffer_head", SITES, false).live, 1, "map: not by path");
	is(PEAK("buffer_head"), 1, "map: nor in the peak");
	call(FREE_BH, SITES, 0x4000);
	is(LIVE("buffer_head"), 0, "map: one of the window");
	is(path_sum("buffer_head", SITES, false).live, 0, "map: by path, too");

	/* More calls at one time than there is room for. */
	for (i = 0; i < 5; i++)
		call(ALLOC_BH, SITES, 0);
	shim_return(0x5000);
	is(sum_of_name("buffer_head").missed, 2, "map: too many at one time are missed");
	ok(counts("buffer_head", 4, 1), "map: the others are counted");
	is(find("buffer_head")->alloc.maxactive, 3, "map: maxactive");

	/* Unregistered while a call is under way. */
	call(ALLOC_BH, SITES, 0);
	waitprof_control_command((char[4]){ "off" }, 3, NULL);
	shim_return(0x6000);
	ok(counts("buffer_head", 4, 1), "map: off while a call is under way");
	waitprof_control_command((char[4]){ "on" }, 2, NULL);
	call(FREE_BH, SITES, 0x5000);
	is(sum_of_name("buffer_head").counts.older_frees, 2,
	   "map: what was live before off is older");
	is(sum_of_name("buffer_head").missed, 2, "map: what was missed stays");

	/* A plain count has no map. */
	is(waitprof_tracker_add("n", "site_09", NULL), 0, "map: a plain count");
	calls(SITES + 9, SITES, 4);
	ok(counts("n", 4, 0), "map: counts calls");
	/* A failed half. */
	is(waitprof_tracker_add("h", "site_07", "nowhere"), -ENOENT,
	   "map: half a pair");
	is(shim_probed(world_addr(SITES + 7)), 0, "map: leaves none");
	unload();

	/* A bio. */
	load_as(1, 1024, 64);
	memset(&bio, 0, sizeof(bio));
	hand_out(BIO_ALLOC, SITES, (unsigned long)&bio);
	bio.bi_flags = 1 << BIO_REFFED;
	bio.__bi_cnt.counter = 2;
	call(BIO_PUT, SITES, (unsigned long)&bio);
	ok(counts("bio", 1, 0), "map: a bio, more than one reference");
	bio.__bi_cnt.counter = 1;
	call(BIO_PUT, SITES, (unsigned long)&bio);
	ok(counts("bio", 1, 1), "map: a bio, the last");
	unload();
}

/* The same object of two trackers: one function calls the other, say. */
static void test_map_two(void)
{
	load_as(1, 1024, 64);
	is(waitprof_tracker_add("in", "site_00", "site_01"), 0, "map: inner");
	is(waitprof_tracker_add("out", "site_02", "site_03"), 0, "map: outer");
	hand_out(SITES, SITES + 5, 0x1000);
	hand_out(SITES + 2, SITES + 5, 0x1000);
	call(SITES + 3, SITES + 5, 0x1000);
	call(SITES + 1, SITES + 5, 0x1000);
	ok(counts("out", 1, 1), "map: one object of two trackers, outer");
	ok(counts("in", 1, 1), "map: one object of two trackers, inner");
	waitprof_tracker_remove("out");
	hand_out(SITES, SITES + 5, 0x2000);
	is(waitprof_tracker_add("other", "site_02", "site_03"), 0, "map: another");
	call(SITES + 3, SITES + 5, 0x2000);
	is(sum_of_name("other").counts.frees, 0, "map: frees another's object");
	call(SITES + 1, SITES + 5, 0x2000);
	ok(LIVE("in") == 0 || ALLOCS("in") == 2, "map: which is still there");
	unload();
}

/* What is true of an object, and of all. @followed: the map had room for it. */
static struct {
	bool live, followed;
	unsigned int window;
} objects[4096];

static struct {
	u64 allocs, frees, older, overflow;
	s64 live, peak, by_path[4];
} truth;

/* What the map says of the window. */
static bool map_is_true(void)
{
	struct waitprof_tracker_sum s = sum_of_name("buffer_head");
	unsigned int i;

	for (i = 0; i < 4; i++)
		if (path_sum("buffer_head", SITES + i, false).live !=
		    truth.by_path[i])
			return false;
	return counts("buffer_head", truth.allocs, truth.frees) &&
	       s.counts.older_frees == truth.older &&
	       s.counts.overflow == truth.overflow &&
	       waitprof_counts_live(&s.counts) == truth.live &&
	       s.peak == truth.peak;
}

static void map_give_back(unsigned int i, unsigned int window)
{
	bool younger = objects[i].followed && objects[i].window == window;

	call(FREE_BH, SITES, 0xffff888100000000ul + i * 104ul);
	objects[i].live = false;
	truth.frees += younger;
	truth.older += !younger;
	truth.live -= younger;
	truth.by_path[i % 4] -= younger;
}

static void map_hand_out(unsigned int i, unsigned int window)
{
	u64 overflow = sum_of_name("buffer_head").counts.overflow;

	hand_out(ALLOC_BH, SITES + i % 4, 0xffff888100000000ul + i * 104ul);
	objects[i].live = true;
	objects[i].window = window;
	objects[i].followed =
		sum_of_name("buffer_head").counts.overflow == overflow;
	truth.allocs++;
	truth.overflow += !objects[i].followed;
	truth.live += objects[i].followed;
	truth.by_path[i % 4] += objects[i].followed;
	truth.peak = max(truth.peak, truth.live);
}

static void test_map_random(unsigned int room, unsigned int addresses)
{
	unsigned int state = addresses, n, i, wrong = 0, window = 0;
	u64 overflow = 0;

	memset(objects, 0, sizeof(objects));
	memset(&truth, 0, sizeof(truth));
	load_as(1, room, 64);
	for (n = 0; n < 30000; n++) {
		i = tap_random(&state) % addresses;
		shim_cpu = tap_random(&state) % SHIM_CPUS;
		if (objects[i].live)
			map_give_back(i, window);
		else
			map_hand_out(i, window);
		if (n % 3000 == 2999) {
			wrong += !map_is_true();
			overflow += truth.overflow;
			waitprof_snapshot_close(NULL);
			window++;
			memset(&truth, 0, sizeof(truth));
		}
	}
	is(wrong, 0, "map: %u objects, %u addresses: 10 windows are true",
	   room, addresses);
	ok(!overflow == (addresses < room),
	   "map: %u objects, %u addresses: no room for %llu", room, addresses,
	   overflow);
	/* None is left behind. */
	for (i = 0; i < addresses; i++)
		if (objects[i].live)
			map_give_back(i, window);
	is(entries(0), 0, "map: %u objects, %u addresses: at the end it is empty",
	   room, addresses);
	shim_cpu = 0;
	unload();
}

/* Objects that are no longer followed, from off on. */
static void test_map_off(void)
{
	struct waitprof_snapshot *snap;
	struct waitprof_counts c;
	unsigned int i;

	load_as(1, 1024, 64);
	hand_out(ALLOC_BH, SITES, 0x9000);
	waitprof_snapshot_close(NULL);
	for (i = 1; i <= 7; i++) {
		shim_cpu = i % SHIM_CPUS;
		hand_out(ALLOC_BH, SITES + i % 2, i * 0x1000);
	}
	call(FREE_BH, SITES, 0x1000);
	hand_out(BIO_ALLOC, SITES, 0xa000);
	waitprof_control_command((char[4]){ "off" }, 3, NULL);
	shim_cpu = 0;

	c = sum_of_name("buffer_head").counts;
	is(c.cut, 6, "off: those that were live are cut, older ones are not");
	ok(c.allocs == 7 && c.frees == 1, "off: their numbers stay");
	is(LIVE("buffer_head"), 0, "off: none is live");
	is(LIVE("bio"), 0, "off: nor of another tracker");
	is(path_sum("buffer_head", SITES, false).live, 0, "off: nor by path, 0");
	is(path_sum("buffer_head", SITES + 1, false).live, 0,
	   "off: nor by path, 1");
	is(path_sum("buffer_head", SITES + 1, false).count, 4,
	   "off: where the allocations stay");
	is(PEAK("buffer_head"), 7, "off: as does the peak");
	is(entries(0), 0, "off: the map is empty");
	snap = waitprof_snapshot_alloc();
	waitprof_snapshot_take(snap);
	is(snap->lost.object_cut, 7, "off: cut, in all");
	waitprof_snapshot_free(snap);

	waitprof_control_command((char[4]){ "on" }, 2, NULL);
	call(FREE_BH, SITES, 0x2000);
	c = sum_of_name("buffer_head").counts;
	ok(c.older_frees == 1 && c.frees == 1, "on: then they are older");
	is(LIVE("buffer_head"), 0, "on: and not taken from live");
	for (i = 0; i < 3; i++)
		hand_out(ALLOC_BH, SITES, 0x10000 + i * 0x1000);
	is(LIVE("buffer_head"), 3, "on: others are live");
	is(PEAK("buffer_head"), 7, "on: at most as many as before");
	waitprof_snapshot_close(NULL);
	is(sum_of_name("buffer_head").counts.cut, 0, "a new window: none is cut");
	unload();

	/* With nothing to follow, nothing is cut. */
	load();
	calls(ALLOC_BH, SITES, 4);
	waitprof_control_command((char[4]){ "off" }, 3, NULL);
	is(sum_of_name("buffer_head").counts.cut, 0, "off, live=count: none is cut");
	is(LIVE("buffer_head"), 4, "off, live=count: live stays");
	waitprof_control_command((char[4]){ "on" }, 2, NULL);
	unload();
}

/* One that the map has no room for. */
static void test_map_overflow(void)
{
	u64 frees;
	u32 i;

	load_as(1, 1024, 64);
	for (i = 0; i <= waitprof_live_mask; i++)
		waitprof_live[i] = (struct waitprof_live) { 1, 0, 15 };
	hand_out(ALLOC_BH, SITES, 0x1000);
	is(ALLOCS("buffer_head"), 1, "no room: it is counted");
	is(sum_of_name("buffer_head").counts.overflow, 1, "no room: as such");
	is(LIVE("buffer_head"), 0, "no room: not live");
	is(path_sum("buffer_head", SITES, false).live, 0, "no room: nor by path");
	is(path_sum("buffer_head", SITES, false).count, 1,
	   "no room: where it is counted");
	is(PEAK("buffer_head"), 0, "no room: nor in the peak");
	waitprof_live_forget(15, NULL);
	frees = FREES("buffer_head");
	call(FREE_BH, SITES, 0x1000);
	is(sum_of_name("buffer_head").counts.older_frees, 1,
	   "no room: taken back, it is older");
	is(FREES("buffer_head"), frees, "no room: and no free of the window");
	is(LIVE("buffer_head"), 0, "no room: live is what it was");
	unload();
}

/* However it is read: the peak never falls, and is no less than what is live. */
static void test_reads(unsigned int batch, unsigned int room)
{
	unsigned int state = batch + room, n, i, fell = 0, less = 0;
	s64 last = 0;

	memset(objects, 0, sizeof(objects));
	load_as(batch, room, 64);
	for (n = 0; n < 20000; n++) {
		struct waitprof_tracker_sum s;
		/* a tide */
		bool up = tap_random(&state) % 100 < (n / 2500 % 2 ? 35 : 65);

		i = tap_random(&state) % 2000;
		shim_cpu = tap_random(&state) % SHIM_CPUS;
		if (!up)
			call(FREE_BH, SITES, 0x1000 + i * 16ul);
		else if (room)
			hand_out(ALLOC_BH, SITES, 0x1000 + i * 16ul);
		else
			call(ALLOC_BH, SITES, 0);
		if (tap_random(&state) % 5)
			continue;
		s = sum_of_name("buffer_head");
		fell += s.peak < last;
		less += s.peak < waitprof_counts_live(&s.counts);
		last = s.peak;
		if (n % 5000 > 4990) {
			waitprof_snapshot_close(NULL);
			last = 0;
		}
	}
	is(fell, 0, "batch %u, room %u: the peak never falls between two reads",
	   batch, room);
	is(less, 0, "batch %u, room %u: nor is it less than what is live", batch,
	   room);
	shim_cpu = 0;
	unload();
}

/* The cells of all CPUs and generations, and the map. */
static u64 everything(void)
{
	const size_t size = waitprof_object_cells_size();
	u64 hash = entries(0);
	int cpu, gen;
	size_t i;

	for_each_possible_cpu(cpu) {
		for (gen = 0; gen < 2; gen++) {
			const char *p = (char *)waitprof_object_cells(cpu, gen);

			for (i = 0; i < size; i++)
				hash = hash * 31 + p[i];
		}
	}
	return hash;
}

/* An interrupt that cannot be masked may come in anywhere. */
static void test_nmi(unsigned int room)
{
	unsigned long before;
	u64 was;

	load_as(1, room, 64);
	waitprof_tracker_add("one", "site_00", NULL);
	hand_out(ALLOC_BH, SITES, 0x1000);
	hand_out(BIO_ALLOC, SITES, (unsigned long)&bio);
	memset(&bio, 0, sizeof(bio));
	call(SITES, SITES, 0);
	was = everything();
	before = shim_unwinds;
	shim_nmi = true;
	call(SITES, SITES, 0);
	is(ALLOCS("one"), 2, "nmi, room %u: a breakpoint is one too, and counts",
	   room);
	was = everything();
	before = shim_unwinds;
	this_cpu_write(waitprof_tracker_busy, true);
	call(FREE_BH, SITES + 1, 0x1000);
	call(BIO_PUT, SITES + 1, (unsigned long)&bio);
	call(SITES, SITES + 1, 0);
	is(sum_of_name("buffer_head").missed, 1, "nmi, room %u: a free is missed",
	   room);
	is(sum_of_name("bio").missed, 1, "nmi, room %u: as is that of a bio", room);
	is(sum_of_name("one").missed, 1, "nmi, room %u: and a call", room);
	hand_out(ALLOC_BH, SITES + 1, 0x2000);
	is(sum_of_name("buffer_head").missed, 2, "nmi, room %u: and an allocation",
	   room);
	ok(everything() == was, "nmi, room %u: nothing else is counted", room);
	is(shim_unwinds, before, "nmi, room %u: no stack is looked at", room);
	ok(this_cpu_read(waitprof_tracker_busy),
	   "nmi, room %u: who was at work still is", room);
	shim_nmi = false;
	this_cpu_write(waitprof_tracker_busy, false);
	call(FREE_BH, SITES, 0x1000);
	is(FREES("buffer_head"), 1, "nmi, room %u: afterwards all is as before",
	   room);
	waitprof_control_command((char[4]){ "off" }, 3, NULL);
	is(sum_of_name("one").missed, 1, "nmi, room %u: what was missed stays",
	   room);
	waitprof_control_command((char[4]){ "on" }, 2, NULL);
	unload();
}

/* Frees that were missed leave an entry; one address has one entry. */
static void test_map_stale(void)
{
	unsigned long x = 0xffff888100000000ul, y = x;

	load_as(1, 1024, 64);
	do {
		y += 64;
	} while (waitprof_live_hash(y) != waitprof_live_hash(x));
	hand_out(ALLOC_BH, SITES, x);
	hand_out(ALLOC_BH, SITES, y);	/* behind x */
	call(FREE_BH, SITES, x);
	/* the free of y is missed, and y handed out again */
	hand_out(ALLOC_BH, SITES, y);
	call(FREE_BH, SITES, y);
	todo(!entries(y), "live.c: waitprof_live_insert() takes the first free place without looking for its own address behind it",
	     "map: after a missed free an object has one entry");
	unload();
}

/* Functions that are called while the stack of another is looked at. */
static void call_nested(void)
{
	struct world_stack stack = a.stack;
	const struct shim_frame *frame = a.t.frame;
	int nframes = a.t.nframes;

	shim_on_unwind = NULL;
	memset(&a.stack, 0, sizeof(a.stack));
	world_stack_alloc(&a.stack);
	call(SITES, SITES + 20, 0);
	call(FREE_BH, SITES + 20, 1);
	free(a.stack.word);
	a.stack = stack;
	a.t.frame = frame;
	a.t.nframes = nframes;
}

static void test_nested(void)
{
	load();
	waitprof_tracker_add("one", "site_00", NULL);
	shim_on_unwind = call_nested;
	call(ALLOC_BH, SITES + 1, 1);
	ok(counts("one", 0, 0) && counts("buffer_head", 1, 0),
	   "nested: a handler's own calls do not count");
	is(sum_of_name("one").missed + sum_of_name("buffer_head").missed, 2,
	   "nested: what is not counted is missed");
	is(path_sum("buffer_head", SITES + 1, false).count, 1,
	   "nested: the outer one has its path");
	is(path_sum("one", SITES + 20, false).count, 0,
	   "nested: the inner one has none");
	call(SITES, SITES + 20, 0);
	is(path_sum("one", SITES + 20, false).count, 1, "nested: by itself it has");
	unload();
}

/* A handler that ftrace called just before the function was left alone. */
static void test_late(void)
{
	struct pt_regs regs = { .di = 1 };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		load();
		waitprof_tracker_add("x", "site_00", "site_01");
		call(SITES, SITES + 5, 0);
		if (i)
			waitprof_control_command((char[4]){ "off" }, 3, NULL);
		else
			waitprof_tracker_remove("x");
		regs.sp = (unsigned long)a.stack.word;
		shim_ftrace_call(waitprof_tracker_called, NULL, world_addr(SITES),
				 &regs);
		is(sum_at(4, false).counts.allocs, i, "late, %s: not counted",
		   i ? "off" : "untracked");
		if (i)
			waitprof_control_command((char[4]){ "on" }, 2, NULL);
		unload();
	}
}

/* Each thing that the two probes of a tracker need may fail. */
static void test_fail(void)
{
	unsigned int i, wrong = 0, failed = 0;

	for (i = 0; i < 6; i++) {
		unsigned int filters;
		int err;

		load();
		filters = shim_filters;
		shim_failing = 1 << i;
		err = waitprof_tracker_add("x", "site_00", "site_01");
		shim_failing = 0;
		failed += !!err;
		wrong += shim_probed(world_addr(SITES)) != !err ||
			 shim_probed(world_addr(SITES + 1)) != !err;
		wrong += call(SITES, SITES + 5, 0) != !err ||
			 call(SITES + 1, SITES + 5, 1) != !err;
		wrong += err ? shim_filters != filters || waitprof_tracker_find("x") :
			       !counts("x", 1, 1);
		unload();
	}
	is(wrong, 0, "whatever fails, it has both probes or none");
	ok(failed >= 2, "which was so %u times", failed);
}

/* Those who use them are not told when ftrace, or all kprobes, are switched off. */
static void test_reached(unsigned int room)
{
	unsigned int off;

	load_as(1, room, 64);
	shim_notrace = "site_01";
	is(waitprof_tracker_add("breakpoint", "site_01", NULL), 0,
	   "reached, room %u: track where ftrace does not call", room);
	shim_notrace = NULL;
	for (off = 0; off < 4; off++) {
		u64 before = ALLOCS("buffer_head");

		shim_ftrace_off = off & 1;
		shim_kprobes_off = off & 2;
		hand_out(ALLOC_BH, SITES, 0x1000);
		ok(sum_of_name("buffer_head").reached ==
		   (ALLOCS("buffer_head") != before),
		   "reached, room %u, off %u: it says so", room, off);
		before = ALLOCS("breakpoint");
		call(SITES + 1, SITES, 0);
		ok(sum_of_name("breakpoint").reached ==
		   (ALLOCS("breakpoint") != before),
		   "reached, room %u, off %u: as does that", room, off);
		ok(sum_of_name("kiobuf").reached,
		   "reached, room %u, off %u: who is not there is not asked", room,
		   off);
	}
	is(ALLOCS("breakpoint"), 2, "reached, room %u: that takes kprobes alone",
	   room);
	waitprof_control_command((char[4]){ "off" }, 3, NULL);
	ok(sum_of_name("buffer_head").reached,
	   "reached, room %u: nor is anybody while off", room);
	waitprof_control_command((char[4]){ "on" }, 2, NULL);
	ok(!sum_of_name("buffer_head").reached, "reached, room %u: but when on",
	   room);
	shim_ftrace_off = shim_kprobes_off = false;
	ok(sum_of_name("buffer_head").reached, "reached, room %u: then it is again",
	   room);
	unload();
}

static u32 forgot, forgot_path, forgot_epoch;

static void forget(u32 tracker, u32 path, u32 epoch)
{
	forgot++;
	forgot_path += path;
	forgot_epoch += epoch;
}

static void test_live(void)
{
	u32 i, epoch, n = 0;

	load_as(1, 1024, 64);
	ok(waitprof_live_insert(0x1000, 3, 17, 5), "live: insert");
	is(waitprof_live_remove(0x1000, 4, &epoch), -1, "live: not another's");
	is(waitprof_live_remove(0x1001, 3, &epoch), -1, "live: nor another");
	is(waitprof_live_remove(0x1000, 3, &epoch), 17, "live: remove");
	is(epoch, 5, "live: and its window");
	is(waitprof_live_remove(0x1000, 3, &epoch), -1, "live: once");
	ok(waitprof_live_insert(0x1000, 15, 16384, 0xffffffff), "live: large numbers");
	is(waitprof_live_remove(0x1000, 15, &epoch), 16384,
	   "live: come back whole");
	is(epoch, 0xffffffff, "live: all bits of the window");
	for (i = 0; i < 4096; i++)
		n += waitprof_live_insert(0x10000 + i * 64, i % 2, 1, 1);
	ok(n <= 1024 && n > 900, "live: %u of 1024 are used", n);
	is(n, entries(0), "live: as many as it said");
	for (i = 0; i < 4096; i++)
		n -= waitprof_live_remove(0x10000 + i * 64, i % 2, &epoch) >= 0;
	is(n, 0, "live: all are found");
	for (i = 0; i < 100; i++)
		waitprof_live_insert(0x10000 + i * 64, i % 2, 7, 1 + i % 4);
	forgot = forgot_path = forgot_epoch = 0;
	waitprof_live_forget(0, forget);
	is(forgot, 50, "live: forget one tracker's");
	is(forgot_path, 50 * 7, "live: each with its path");
	is(forgot_epoch, 25 * 1 + 25 * 3, "live: and its window");
	for (i = 0; i < 100; i++)
		n += waitprof_live_remove(0x10000 + i * 64, i % 2, &epoch) >= 0;
	is(n, 50, "live: the other's are still there");
	waitprof_live_insert(0x1000, 3, 17, 5);
	waitprof_live_forget(3, NULL);
	is(entries(0), 0, "live: forget and tell nobody");
	is(waitprof_live_bytes(), 16 * 1024, "live: its memory");
	unload();
}

static void test_all(void)
{
	test_threads(1);
	test_threads(64);
#ifndef __SANITIZE_THREAD__	/* the others have one */
	test_count();
	test_bio();
	test_window();
	test_peak(1, 0);
	test_peak(64, 0);
	test_peak(64, 1);
	test_peak_error();
	test_track();
	test_again();
	test_half();
	test_meanwhile();
	test_module();
	test_mixed();
	test_order();
	test_full();
	test_map();
	test_map_two();
	test_map_random(1024, 300);
	test_map_random(8192, 4000);
	test_map_random(1024, 2000);
	test_map_off();
	test_map_overflow();
	test_map_stale();
	test_reads(1, 0);
	test_reads(64, 0);
	test_reads(64, 1024);
	test_reads(64, 4096);
	test_nested();
	test_late();
	test_fail();
	test_reached(0);
	test_reached(1024);
	test_nmi(0);
	test_nmi(1024);
	test_live();
#endif
}

int main(void)
{
	world_init();
	test_all();
	if (IS_ENABLED(CONFIG_KPROBES_ON_FTRACE)) {
		printf("# ftrace=0\n");
		waitprof_point_ftrace(false);
		test_all();
	}
	free(a.stack.word);
	free(machine_idle.stack.word);
	return tap_done();
}
