// SPDX-License-Identifier: GPL-2.0
/* Probes that come and go: who calls the handler, and what is left. */

#include "shim.h"
#include "tap.h"
#include "world.h"
#include "point.c"

static WAITPROF_FTRACE_HANDLER(on_call);

static struct waitprof_calls calls, others;
static struct waitprof_point points[FUNCTIONS], again;
static unsigned int hits[FUNCTIONS], again_hits;
/* Ftrace may be used. */
static bool by_ftrace;

static void count(struct waitprof_point *point, struct pt_regs *regs)
{
	unsigned int *n = point->owner;

	/* this is what is good of them */
	if (regs->di != 7 || regs->sp != 0x5000)
		abort();
	++*n;
}

static int on_kprobe(struct kprobe *p, struct pt_regs *regs)
{
	count(container_of(p, struct waitprof_point, probe.kp), regs);
	return 0;
}

static WAITPROF_FTRACE_HANDLER(on_call)
{
	struct waitprof_point *point = waitprof_calls_find(&calls, ip);

	if (point)
		count(point, WAITPROF_FTRACE_REGS);
}

static WAITPROF_FTRACE_HANDLER(on_other_call)
{
	count(waitprof_calls_find(&others, ip), WAITPROF_FTRACE_REGS);
}

static void set(struct waitprof_point *point, int func, unsigned int *n)
{
	*point = (struct waitprof_point) {
		.symbol = world_symbols[func].name,
		.calls = &calls,
		.handler = on_kprobe,
		.owner = n,
	};
	*n = 0;
}

static void load(void)
{
	int i;

	calls = (struct waitprof_calls)WAITPROF_CALLS_INIT(on_call);
	others = (struct waitprof_calls)WAITPROF_CALLS_INIT(on_other_call);
	for (i = 0; i < FUNCTIONS; i++)
		set(&points[i], i, &hits[i]);
	waitprof_point_ftrace(by_ftrace);
}

/* How many handlers a call of @func finds. */
static unsigned int hit(int func)
{
	struct pt_regs regs = { .ip = 0x1234, .sp = 0x5000, .di = 7 };

	return shim_hit(world_addr(func), &regs);
}

/* Is it attached, by ftrace or a kprobe, and by that alone? */
static bool stands(struct waitprof_point *point, bool ftrace)
{
	return point->attached && !point->err && point->ftrace == ftrace &&
	       !!(point->probe.kp.flags & KPROBE_FLAG_DISABLED) == ftrace;
}

static bool gone(struct waitprof_point *point)
{
	return !point->attached && !point->ftrace;
}

/* How many of the calls there are, by all that counts them. */
static bool calls_are(unsigned int n)
{
	unsigned int i, in_table = 0;

	for (i = 0; i < WAITPROF_CALLS; i++)
		in_table += !!calls.at[i].ip;
	return calls.points == n && in_table == n && shim_filters == n &&
	       !shim_ftrace == !n;
}

static void test_one(void)
{
	struct waitprof_point *p = &points[SITES];

	load();
	is(waitprof_point_attach(p), 0, "attach");
	ok(stands(p, by_ftrace) && calls_are(by_ftrace), "as it should");
	is(waitprof_point_attach(p), 0, "twice");
	ok(stands(p, by_ftrace) && calls_are(by_ftrace), "is once");
	ok(hit(SITES) == 1 && hits[SITES] == 1, "a call is seen once");
	ok(hit(SITES + 1) == 0 && hits[SITES] == 1, "another function's is not");
	p->probe.kp.nmissed = 3;
	atomic_long_inc(&p->missed);
	is(waitprof_point_missed(p), 4, "missed, by both");
	waitprof_point_detach(p);
	ok(gone(p) && calls_are(0) && shim_unprobed(), "detach");
	waitprof_point_detach(p);
	ok(gone(p) && shim_unprobed(), "twice");
	ok(hit(SITES) == 0 && hits[SITES] == 1, "nothing is seen");
	is(waitprof_point_missed(p), 4, "what was missed stays");
	is(waitprof_point_attach(p), 0, "and again");
	is(waitprof_point_missed(p), 4, "nothing is missed twice");
	ok(stands(p, by_ftrace) && hit(SITES) == 1 && hits[SITES] == 2, "seen again");
	waitprof_point_detach(p);
	ok(shim_unprobed(), "and gone");
}

/* Where ftrace cannot be used. */
static void test_kprobe_only(void)
{
	struct waitprof_point *p = &points[SITES];

	load();
	shim_notrace = p->symbol;
	is(waitprof_point_attach(p), 0, "a function that ftrace does not call at");
	ok(stands(p, false) && hit(SITES) == 1 && hits[SITES] == 1, "has a kprobe");
	is(waitprof_point_attach(&points[SITES + 1]), 0, "another");
	ok(stands(&points[SITES + 1], by_ftrace), "does not mind");
	waitprof_point_detach(p);
	ok(calls_are(by_ftrace) && hit(SITES + 1) == 1, "when the first goes, too");
	waitprof_point_detach(&points[SITES + 1]);
	shim_notrace = NULL;
	ok(shim_unprobed(), "nothing is left");

	load();
	p->calls = NULL;
	waitprof_point_attach(p);
	ok(stands(p, false) && hit(SITES) == 1, "who has no calls has a kprobe");
	waitprof_point_detach(p);

	load();
	shim_refused[0].symbol = p->symbol;
	shim_refused[0].err = -EINVAL;
	is(waitprof_point_attach(p), -EINVAL, "where a kprobe is refused");
	ok(gone(p) && p->err == -EINVAL && calls_are(0) && shim_unprobed(),
	   "ftrace is not asked");
	shim_refused[0].symbol = NULL;
	p->symbol = "nowhere";
	is(waitprof_point_attach(p), -ENOENT, "nor where there is no function");
	ok(gone(p) && shim_unprobed(), "nothing is left");
}

/* All that it asks for may fail, one or more of it, with @n others there. Only that
 * a filter cannot be taken back is left to test_filter_stays().
 */
static void test_fail(unsigned int n)
{
	struct waitprof_point *p = &points[SITES + n];
	unsigned int mask, i, wrong = 0, failed = 0, fell_back = 0;

	for (mask = 0; mask < 32; mask++) {
		int err;

		/* kprobe, filter, ftrace fails, filter is to be taken back */
		if (by_ftrace && !n && (mask & 15) == 12)
			continue;
		load();
		for (i = 0; i < n; i++)
			waitprof_point_attach(&points[SITES + i]);
		shim_failing = mask;
		err = waitprof_point_attach(p);
		shim_failing = 0;
		failed += !!err;
		fell_back += !err && p->ftrace != by_ftrace;
		if (err)
			wrong += !gone(p) || p->err != err || hit(SITES + n);
		else
			wrong += !stands(p, p->ftrace) || hit(SITES + n) != 1 ||
				 hits[SITES + n] != 1;
		wrong += !calls_are(by_ftrace * n + p->ftrace);
		for (i = 0; i < n; i++)
			wrong += hit(SITES + i) != 1 || hits[SITES + i] != 1;
		/* It may be had later. */
		wrong += waitprof_point_attach(p) || hit(SITES + n) != 1;
		for (i = 0; i <= n; i++)
			waitprof_point_detach(&points[SITES + i]);
		wrong += !calls_are(0) || !shim_unprobed();
	}
	is(wrong, 0, "with %u others: whatever fails, all or nothing", n);
	ok(failed && !fell_back == !by_ftrace,
	   "with %u others: %u failed, %u fell back on the kprobe", n, failed,
	   fell_back);
}

#ifdef WAITPROF_FTRACE
/* The kernel may have no memory for a smaller filter. */
static void test_filter_stays(void)
{
	load();
	waitprof_point_attach(&points[SITES]);
	waitprof_point_attach(&points[SITES + 1]);
	shim_failing = 1;
	waitprof_point_detach(&points[SITES]);
	ok(gone(&points[SITES]) && shim_filters == 2, "a filter cannot be made smaller");
	hit(SITES);
	is(hits[SITES], 0, "the handler is called, and knows no such function");
	is(waitprof_point_attach(&points[SITES]), 0, "which may come back");
	hit(SITES);
	is(hits[SITES], 1, "and be seen");
	waitprof_point_detach(&points[SITES]);
	waitprof_point_detach(&points[SITES + 1]);
	ok(!shim_ftrace && !shim_kprobes, "at the end, nothing is called");
	todo(!shim_filters, "point.c: an entry of a filter that could not be taken back stays",
	     "and no filter is left");
	shim_filters = 0;
}

/* A handler that was called just before the function was left alone. */
static void test_late(void)
{
	struct pt_regs regs = { .sp = 0x5000, .di = 7 };

	load();
	waitprof_point_attach(&points[SITES]);
	waitprof_point_attach(&points[SITES + 1]);
	waitprof_point_detach(&points[SITES]);
	shim_ftrace_call(calls.ops.func, &calls.ops, world_addr(SITES), &regs);
	is(hits[SITES], 0, "late: a handler that comes late finds nobody");
	waitprof_point_detach(&points[SITES + 1]);
	ok(shim_unprobed(), "late: nothing is left");
}

static unsigned int idles;

static void on_idle(void)
{
	waitprof_stuck = ++idles < 3;
}

/* An ftrace that has found itself broken goes on calling. */
static void test_broken(bool ftrace)
{
	struct waitprof_point *p = &points[SITES];

	load();
	waitprof_point_ftrace(ftrace);
	waitprof_point_attach(p);
	waitprof_point_exit();
	shim_ftrace_killed = true;
	waitprof_point_detach(p);
	ok(gone(p) && !shim_unprobed(), "broken: it cannot be taken out");
	is(waitprof_point_attach(p), -ENODEV, "broken: nor put in place again");
	is(hit(SITES), ftrace, "broken: the handler is called");
	is(hits[SITES], 0, "broken: and knows no such function");
	idles = 0;
	shim_on_idle = on_idle;
	waitprof_point_exit();
	is(idles, 3, "broken: and has to stay");
	shim_on_idle = NULL;
	shim_ftrace_killed = false;
	shim_kprobes = NULL;
	shim_ftrace = NULL;
	shim_filters = 0;
}

/* While it is broken, what it does not call comes and goes. */
static void test_broken_breakpoint(void)
{
	struct waitprof_point *p = &points[SITES];

	load();
	shim_notrace = p->symbol;
	shim_ftrace_killed = true;
	waitprof_point_attach(p);
	ok(stands(p, false) && hit(SITES) == 1 && hits[SITES] == 1,
	   "broken: a breakpoint can be put in place");
	waitprof_point_detach(p);
	ok(shim_unprobed(), "broken: and taken out");
	waitprof_point_exit();
	shim_notrace = NULL;
	shim_ftrace_killed = false;
}
#else
static void test_filter_stays(void) { }
static void test_late(void) { }
static void test_broken(bool ftrace) { }
static void test_broken_breakpoint(void) { }
#endif

/* Two on one function. */
static void test_two(bool first_goes_first)
{
	struct waitprof_point *first = &points[SITES], *second = &again;
	struct waitprof_point *goes = first_goes_first ? first : second;
	struct waitprof_point *stays = first_goes_first ? second : first;
	const char *which = first_goes_first ? "first" : "second";
	unsigned int *seen;

	load();
	set(second, SITES, &again_hits);
	seen = stays->owner;
	waitprof_point_attach(first);
	waitprof_point_attach(second);
	ok(stands(first, by_ftrace) && stands(second, false) &&
	   calls_are(by_ftrace), "two on one function: the second has a kprobe");
	ok(hit(SITES) == 2 && hits[SITES] == 1 && again_hits == 1,
	   "two on one function: each has the call");
	waitprof_point_detach(goes);
	ok(gone(goes) && stands(stays, by_ftrace && stays == first),
	   "two on one function: the %s goes", which);
	ok(hit(SITES) == 1 && *seen == 2,
	   "two on one function: the other has its calls, without the %s", which);
	waitprof_point_attach(goes);
	ok(stands(goes, by_ftrace && stays == second) && hit(SITES) == 2 &&
	   *seen == 3, "two on one function: the %s comes back", which);
	waitprof_point_detach(stays);
	waitprof_point_detach(goes);
	ok(shim_unprobed() && calls_are(0), "two on one function: nothing is left");

	/* Each with calls of its own. */
	load();
	set(second, SITES, &again_hits);
	second->calls = &others;
	waitprof_point_attach(first);
	waitprof_point_attach(second);
	ok(stands(first, by_ftrace) && stands(second, by_ftrace),
	   "two users on one function: ftrace calls both");
	ok(hit(SITES) == 2 && hits[SITES] == 1 && again_hits == 1,
	   "two users on one function: each has the call");
	waitprof_point_detach(goes);
	ok(hit(SITES) == 1 && *seen == 2, "two users on one function: the %s goes",
	   which);
	waitprof_point_detach(stays);
	ok(shim_unprobed(), "two users on one function: nothing is left");
}

/* As many as there is room for, so that they collide. */
static void test_full(void)
{
	struct waitprof_point *more = &points[ALLOC_BH];
	unsigned int i, j, wrong = 0;

	load();
	for (i = 0; i < WAITPROF_CALLS; i++) {
		waitprof_point_attach(&points[SITES + i]);
		wrong += !stands(&points[SITES + i], by_ftrace);
	}
	is(wrong, 0, "full: room for %lu", WAITPROF_CALLS);
	ok(!waitprof_calls_find(&calls, world_addr(ALLOC_BH)),
	   "full: the search for one that is not there ends");
	is(waitprof_point_attach(more), 0, "full: one more");
	ok(stands(more, false), "full: has a kprobe");
	for (i = 0; i < WAITPROF_CALLS; i++)
		wrong += hit(SITES + i) != 1 || hits[SITES + i] != 1;
	is(wrong, 0, "full: each has its own calls");
	ok(hit(ALLOC_BH) == 1 && hits[ALLOC_BH] == 1, "full: that one too");
	waitprof_point_detach(more);
	waitprof_point_detach(&points[SITES + 20]);
	waitprof_point_attach(more);
	ok(stands(more, by_ftrace) && hit(ALLOC_BH) == 1 && hits[ALLOC_BH] == 2,
	   "full: in the place of another, ftrace calls");
	ok(!hit(SITES + 20), "full: whose calls are nobody's");
	waitprof_point_detach(more);
	for (i = WAITPROF_CALLS; i--;) {
		waitprof_point_detach(&points[SITES + i]);
		for (j = 0; j < i; j++)
			wrong += hit(SITES + j) != (j != 20);
	}
	is(wrong, 0, "full: as they go, the others stay");
	ok(shim_unprobed() && calls_are(0), "full: nothing is left");
}

static u32 place(int func)
{
	return hash_long(world_addr(func), WAITPROF_CALLS_BITS);
}

/* One goes, and another of the same place has to be found behind the hole. */
static void test_collide(void)
{
	int a = SITES, b;

	load();
	do {
		for (b = ++a + 1; b < FUNCTIONS && place(b) != place(a); b++)
			;
	} while (b == FUNCTIONS);
	waitprof_point_attach(&points[a]);
	waitprof_point_attach(&points[b]);
	waitprof_point_detach(&points[a]);
	ok(hit(a) == 0 && hit(b) == 1 && hits[b] == 1, "behind a hole, found");
	waitprof_point_attach(&points[a]);
	ok(hit(a) == 1 && hits[a] == 1 && hit(b) == 1 && hits[b] == 2,
	   "the hole is filled");
	waitprof_point_detach(&points[b]);
	ok(hit(a) == 1 && hits[a] == 2 && hit(b) == 0, "the other goes");
	waitprof_point_detach(&points[a]);
	ok(shim_unprobed() && calls_are(0), "nothing is left");
}

/* Whatever comes and goes in whatever order; calls come in all the time. */
static unsigned int random_state;

static void hit_any(void)
{
	hit(tap_random(&random_state) % FUNCTIONS);
}

static void test_random(void)
{
	unsigned int n, i, wrong = 0, most = 0;

	load();
	random_state = by_ftrace;
	shim_on_ftrace = hit_any;
	for (n = 0; n < 20000; n++) {
		struct waitprof_point *p;
		bool less = n / 1000 % 2;
		unsigned int before;

		i = tap_random(&random_state) % FUNCTIONS;
		p = &points[i];
		if (tap_random(&random_state) % 4 < (less ? 1 : 3))
			wrong += waitprof_point_attach(p) != 0;
		else
			waitprof_point_detach(p);
		before = hits[i];
		wrong += hit(i) != p->attached ||
			 hits[i] != before + p->attached;
		wrong += calls.points > WAITPROF_CALLS ||
			 calls.points != shim_filters;
		most = max(most, calls.points);
	}
	shim_on_ftrace = NULL;
	for (i = 0; i < FUNCTIONS; i++)
		waitprof_point_detach(&points[i]);
	is(wrong, 0, "random: who is there has his calls, and nobody else");
	is(most, by_ftrace ? WAITPROF_CALLS : 0, "random: the table was full");
	ok(shim_unprobed() && calls_are(0), "random: nothing is left");
}

static int on_entry(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	hits[SITES]++;
	return 0;
}

/* A return probe is no matter for ftrace. */
static void test_return(void)
{
	struct waitprof_point *p = &points[SITES];

	load();
	p->handler = NULL;
	p->calls = NULL;
	p->entry = p->ret = on_entry;
	p->data_size = 4;
	p->maxactive = 2;
	is(waitprof_point_attach(p), 0, "return probe: attach");
	ok(stands(p, false) && calls_are(0), "return probe: by a kprobe");
	hit(SITES);
	hit(SITES);
	hit(SITES);
	is(hits[SITES], 2, "return probe: as many as may be under way");
	shim_return(1);
	is(hits[SITES], 4, "return probe: entries and returns");
	is(waitprof_point_missed(p), 1, "return probe: one was missed");
	waitprof_point_detach(p);
	is(waitprof_point_missed(p), 1, "return probe: that stays");
	ok(shim_unprobed(), "return probe: nothing is left");
}

static void test_all(void)
{
	unsigned int n;

	test_one();
	test_kprobe_only();
	for (n = 0; n < 4; n++)
		test_fail(n);
	test_two(true);
	test_two(false);
	test_full();
	test_collide();
	test_random();
	test_return();
}

int main(void)
{
	world_init();
	by_ftrace = IS_ENABLED(CONFIG_KPROBES_ON_FTRACE);
	test_all();
	test_filter_stays();
	test_late();
	test_broken(true);
	test_broken(false);
	test_broken_breakpoint();
	if (by_ftrace) {
		printf("# ftrace=0\n");
		by_ftrace = false;
		test_all();
	}
	return tap_done();
}
