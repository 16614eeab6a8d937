// SPDX-License-Identifier: GPL-2.0
/* Slots: none is lost, all are found, all are given back. */

#include "shim.h"
#include "tap.h"
#include "slot.c"

#define MOST	65536
#define PLACES	4194304
/* Where the memory of an x86-64 lies. */
#define BASE	0xffff888100000000ul

/* Only the address of a task matters; nothing lies there. */
static struct task_struct *task[MOST];
/* Some do exist. */
static struct task_struct real[MOST / 4];
static struct waitprof_slot *slot_of[MOST];

/* The beginning and the end of a wait, as record.c does them. */
static struct waitprof_slot *begin_as(struct task_struct *t, pid_t pid, u64 now)
{
	struct waitprof_slot *s = waitprof_place(t, 0);

	if (cmpxchg(&s->task, NULL, t)) {
		s = waitprof_claim_next(t);
		if (!s)
			return NULL;
	}
	s->t0 = now;
	s->row = 1;
	s->epoch = 0;
	s->pid = pid;
	smp_store_release(&s->seq, s->seq + 1);
	return s;
}

static struct waitprof_slot *begin(struct task_struct *t, u64 now)
{
	return begin_as(t, t->pid, now);
}

static void end(struct waitprof_slot *s)
{
	WRITE_ONCE(s->seq, s->seq + 1);
	waitprof_slot_free(s);
}

static void load(unsigned int slots)
{
	waitprof_reach = 0;
	if (waitprof_slot_init(slots))
		abort();
}

/* A task, the n-th of those whose first choice is this place. */
static struct task_struct *task_at(unsigned int place, unsigned int n, pid_t pid)
{
	struct task_struct *t;

	for (t = real; t < real + ARRAY_SIZE(real); t++) {
		if (waitprof_place(t, 0) != &waitprof_slots[place] || n--)
			continue;
		memset(t, 0, sizeof(*t));
		t->pid = pid;
		return t;
	}
	abort();
}

static unsigned int used(void)
{
	unsigned int i, n = 0;

	for (i = 0; i <= waitprof_slots_mask; i++)
		n += waitprof_slots[i].task != NULL;
	return n;
}

static unsigned int displaced(void)
{
	unsigned int i, n = 0;

	for (i = 0; i <= waitprof_slots_mask; i++)
		n += atomic_read(&waitprof_slots[i].displaced) +
		     (waitprof_slots[i].first != NULL &&
		      !waitprof_slots[i].task);
	return n;
}

enum where { SLAB, RANDOM, MIXED };

static void make_tasks(enum where how, unsigned int n, unsigned int seed)
{
	static unsigned char taken[PLACES];
	unsigned int i;

	memset(taken, 0, sizeof(taken));
	for (i = 0; i < n; i++) {
		unsigned long at, k = i;

		while (how == RANDOM || i % 3 == 0) {
			k = tap_random(&seed) % PLACES;
			if (how == MIXED)	/* a slab in four is of tasks */
				k = i / 3 * 4 + k % 4;
			if (!taken[k]) {
				taken[k] = 1;
				break;
			}
		}
		if (how != RANDOM)	/* three in 32 KiB, as in most kernels */
			at = i % 3 ? (unsigned long)task[i - 1] - BASE + 9792 :
				     k * 32768;
		else
			at = k * 2624;
		task[i] = (struct task_struct *)(BASE + at);
	}
}

/* What the places of tasks in a regular row are worth. */
static void test_row(void)
{
	unsigned int n = 58982, i, lost = 0;

	load(65536);
	for (i = 0; i < n; i++) {
		unsigned long at = BASE + i / 3 * 32768ul +
				   i % 3 * 9792ul;

		lost += !begin_as((struct task_struct *)at, i, 0);
		if (i == 65536 / 2)
			is(lost, 0, "65536 slots, tasks of slabs one behind another: half full, none is lost");
	}
	todo(!lost, "the step depends on the low bits of an address, which such tasks have in common",
	     "65536 slots, tasks of slabs one behind another: 90 %% full, %u lost",
	     lost);
	waitprof_slot_exit();
}

static void test_fill(unsigned int slots, enum where how)
{
	static const char * const names[] = { "of slabs", "anywhere", "among others" };
	unsigned int n = slots / 10 * 9, i, lost = 0, missed = 0, moved = 0;
	unsigned int state = slots + how, alien = 0;
	unsigned int all = min(2 * n, MOST + 0u);
	static unsigned int order[MOST];
	const char *name = names[how];

	load(slots);
	make_tasks(how, all, how);
	for (i = 0; i < n; i++) {
		slot_of[i] = begin_as(task[i], i, i);
		lost += !slot_of[i];
	}
	is(lost, 0, "%u slots, tasks %s: 90 %% full, none is lost", slots, name);
	is(used(), n, "%u slots, tasks %s: each has one of its own", slots, name);
	for (i = 0; i < n; i++) {
		struct waitprof_slot *s = waitprof_slot_find(task[i]);

		missed += s != slot_of[i] || s->pid != (int)i;
		moved += s != waitprof_place(task[i], 0);
	}
	is(missed, 0, "%u slots, tasks %s: each is found (%u elsewhere)", slots,
	   name, moved);
	for (; i < all; i++)
		alien += waitprof_slot_find(task[i]) != NULL;
	is(alien, 0, "%u slots, tasks %s: who has none finds none", slots, name);

	/* Now as in life: one ends, another begins, which may be the same. */
	for (i = 0; i < all; i++)
		order[i] = i;
	for (i = 0; i < 2 * n; i++) {
		unsigned int k = tap_random(&state) % n;
		unsigned int next = n + tap_random(&state) % (all - n);
		struct task_struct *t = task[order[k]];

		missed += waitprof_slot_find(t) != slot_of[k];
		end(slot_of[k]);
		alien += waitprof_slot_find(t) != NULL;
		if (i & 1)
			swap(order[k], order[next]);
		slot_of[k] = begin_as(task[order[k]], order[k], i);
		if (!slot_of[k]) {
			lost++;
			break;
		}
	}
	is(lost, 0, "%u slots, tasks %s: nor in a long run at 90 %%", slots, name);
	is(missed + alien, 0, "%u slots, tasks %s: all found then, no other",
	   slots, name);
	for (i = 0; i < n; i++)
		end(slot_of[i]);
	is(used() + displaced(), 0, "%u slots, tasks %s: at the end all free",
	   slots, name);
	waitprof_slot_exit();
}

/* Few slots: each is tried, and the last is found. */
static void test_brim(unsigned int slots)
{
	unsigned int i, lost = 0, missed = 0, before;

	load(slots);
	make_tasks(RANDOM, slots + 20, slots);
	for (i = 0; i < slots; i++) {
		slot_of[i] = begin_as(task[i], i, 0);
		lost += !slot_of[i];
	}
	is(lost, 0, "%u slots: filled to the brim", slots);
	before = displaced();
	for (i = 0; i < 20; i++)
		lost += !begin_as(task[slots + i], i, 0);
	is(lost, 20, "%u slots: then there is none", slots);
	is(displaced(), before, "%u slots: which leaves no trace", slots);
	for (i = 0; i < slots; i++)
		missed += waitprof_slot_find(task[i]) != slot_of[i];
	is(missed, 0, "%u slots: all are found", slots);
	for (i = 0; i < slots; i++)
		end(slot_of[i]);
	is(used() + displaced(), 0, "%u slots: and given back", slots);
	waitprof_slot_exit();
}

/* More slots than places are tried. */
static void test_over_full(void)
{
	unsigned int i, n = 0, lost = 0;

	load(1024);
	make_tasks(RANDOM, 4096, 3);
	for (i = 0; i < 4096; i++) {
		slot_of[n] = begin_as(task[i], i, 0);
		if (slot_of[n])
			n++;
		else
			lost++;
	}
	is(n, used(), "1024 slots, 4096 tasks: no slot has two");
	is(n, 1024, "1024 slots, 4096 tasks: all are used");
	is(lost, 3072, "1024 slots, 4096 tasks: the rest gets none");
	for (i = 0; i < n; i++)
		end(slot_of[i]);
	is(used() + displaced(), 0, "1024 slots, 4096 tasks: all given back");
	waitprof_slot_exit();
}

static void test_displaced(void)
{
	struct task_struct *a, *b, *c;
	struct waitprof_slot *sa, *sb, *sc;

	load(64);
	a = task_at(5, 0, 5);
	b = task_at(5, 1, 6);
	c = task_at(5, 2, 7);
	ok(!waitprof_slot_find(a), "an empty table");
	sa = begin(a, 1);
	sb = begin(b, 2);
	ok(sa != sb && sa && sb, "two tasks with one first choice");
	ok(!waitprof_slot_find(c), "a third has none");
	end(sa);
	ok(waitprof_slot_find(b) == sb, "found though the first choice is free");
	sc = begin(c, 3);
	ok(sc == sa, "which the third takes");
	ok(waitprof_slot_find(b) == sb && waitprof_slot_find(c) == sc,
	   "both are found");
	end(sc);
	is(displaced(), 1, "one is elsewhere");
	end(sb);
	is(displaced(), 0, "none is");
	sa = begin(a, 4);
	end(sa);
	is(displaced(), 0, "an end at the first choice does not count down");
	sa = begin(a, 4);
	sb = begin(b, 4);
	end(sb);
	sb = begin(b, 5);
	end(sa);
	end(sb);
	is(displaced(), 0, "nor does it stay up");
	is(used(), 0, "all are free");
	waitprof_slot_exit();
}

/* Who has no slot is not looked for any further than a slot was ever given. */
static void test_reach(void)
{
	struct task_struct *a, *b, *c;
	struct waitprof_slot *sa, *sb, *sc;

	load(64);
	a = task_at(9, 0, 1);
	b = task_at(9, 1, 2);
	c = task_at(9, 2, 3);
	sa = begin(a, 1);
	is(waitprof_reach, 0, "nobody is elsewhere yet");
	sb = begin(b, 1);
	is(waitprof_reach, 1, "now one is at the second choice");
	/* a third whose second choice is taken, too */
	waitprof_place(c, 1)->task = waitprof_place(c, 1)->task ?: a;
	sc = begin(c, 1);
	is(waitprof_reach, 2, "now one is at the third");
	ok(waitprof_slot_find(c) == sc, "which is found");
	if (waitprof_place(c, 1)->task == a)
		waitprof_place(c, 1)->task = NULL;
	end(sa);
	end(sb);
	ok(waitprof_slot_find(c) == sc, "also when it is the only one");
	end(sc);
	ok(!waitprof_slot_find(c), "and then no longer");
	is(used() + displaced(), 0, "all are free");
	waitprof_slot_exit();
}

static struct waitprof_flight seen[8];
static unsigned int nseen;

static void see(const struct waitprof_flight *f, void *data)
{
	if (nseen < ARRAY_SIZE(seen))
		seen[nseen] = *f;
	nseen++;
}

/* What a reader makes of slots that change under its hands. */
static void test_sequence(void)
{
	struct task_struct *a, *b, *c, *d;
	struct waitprof_slot *sa, *sb, *sd;
	u32 *seqs;

	load(64);
	a = task_at(1, 0, 1);
	b = task_at(2, 0, 2);
	c = task_at(3, 0, 3);
	d = task_at(1, 1, 4);
	seqs = calloc(64, sizeof(*seqs));
	sa = begin(a, 10);
	sb = begin(b, 20);
	waitprof_slot_seqs(seqs);
	is(waitprof_slot_flights(seqs, see, NULL), 0, "no race");
	ok(nseen == 2 && seen[0].t0 == 10 && seen[0].pid == 1 &&
	   seen[1].t0 == 20 && seen[1].pid == 2, "two are in flight");

	nseen = 0;
	end(sb);
	begin(c, 30);
	is(waitprof_slot_flights(seqs, see, NULL), 1, "one ended meanwhile");
	ok(nseen == 1 && seen[0].pid == 1,
	   "it is not seen, nor is one that began meanwhile");

	/* The same slot, another wait. */
	nseen = 0;
	waitprof_slot_seqs(seqs);
	end(sa);
	sd = begin(d, 40);
	ok(sd == sa, "another task in the same slot");
	is(waitprof_slot_flights(seqs, see, NULL), 1, "is a race");
	is(nseen, 1, "and is not taken for the first");

	nseen = 0;
	waitprof_slot_seqs(seqs);
	end(sd);
	begin(a, 40);
	end(sa);
	is(waitprof_slot_flights(seqs, see, NULL), 1, "several in one slot");
	is(nseen, 1, "count once");
	waitprof_slot_exit();
	free(seqs);
}

static void test_close(void)
{
	struct task_struct *a, *b, *c;
	struct waitprof_slot *sa, *sb, *sc;

	load(64);
	a = task_at(1, 0, 1);
	b = task_at(2, 0, 2);
	c = task_at(3, 0, 3);
	sa = begin(a, 10);
	sb = begin(b, 20);
	sc = begin(c, 100);		/* after the end of the window */
	sb->epoch = 1;			/* its end has been there before */
	nseen = 0;
	waitprof_slot_close(50, 1, see, NULL);
	ok(nseen == 1 && seen[0].pid == 1,
	   "close: once those that began before and are not counted yet");
	ok(sa->epoch == 1 && sb->epoch == 1 && sc->epoch == 1,
	   "close: all are in the new window");
	nseen = 0;
	waitprof_slot_close(50, 1, see, NULL);
	is(nseen, 0, "close: none twice");
	end(sb);
	waitprof_slot_close(150, 2, NULL, NULL);
	ok(sa->epoch == 2 && sb->epoch == 1 && sc->epoch == 2,
	   "close: also if nobody asks, but not what has ended");
	waitprof_slot_exit();
}

static void test_cut(void)
{
	struct task_struct *t[70];
	u64 cut = 3, cut_ns = 7;
	unsigned int i;
	int off = 0;

	load(64);
	for (i = 0; i < 60; i++) {
		t[i] = task_at(7, i, 1 + i);	/* they collide */
		begin(t[i], i < 30 ? 100 : 200);
	}
	/* A window that began at 150 ends at 190: some began later by a clock
	 * that is ahead.
	 */
	waitprof_slot_cut(190, 150, &cut, &cut_ns);
	is(cut, 63, "cut: added to what there was");
	is(cut_ns, 7 + 30 * 40, "cut: their time within the window");
	for (i = 0; i < 64; i++)
		off += waitprof_slots[i].seq & 1;
	is(used() + displaced() + off, 0, "cut: nothing is left");
	for (i = 0; i < 60; i++)
		off += waitprof_slot_find(t[i]) != NULL;
	is(off, 0, "cut: and nothing found");
	waitprof_slot_exit();
}

static void test_size(void)
{
	static const struct {
		unsigned long pages;
		unsigned int slots, asked;
	} sizes[] = {
		{ 1, 1024 }, { 16384 * 2, 2048 }, { 65536, 4096 },
		{ 16 * 40000, 65536 }, { 1ul << 30, 65536 },
		{ 1, 64, 64 }, { 1, 128, 65 }, { 1, 1024, 1000 },
		{ 1, 4194304 / 64, 4194304 / 64 - 1 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		shim_totalram_pages = sizes[i].pages;
		load(sizes[i].asked);
		is(waitprof_slot_count(), sizes[i].slots,
		   "slots=%u with %lu pages", sizes[i].asked, sizes[i].pages);
		if (waitprof_slot_bytes() != sizes[i].slots * 64ull)
			ok(0, "64 bytes each");
		waitprof_slot_exit();
	}
	is(sizeof(struct waitprof_slot), 64, "a slot is a cache line");
	shim_alloc_left = 0;
	is(waitprof_slot_init(64), -ENOMEM, "no memory");
	shim_alloc_left = -1;
}

/* Each place once. */
static void test_places(void)
{
	unsigned int i, try, twice = 0, state = 1;
	static unsigned char seen_at[1024];

	load(1024);
	for (i = 0; i < 200; i++) {
		unsigned long p = BASE +
			(i < 100 ? i : tap_random(&state)) * 64ul;

		memset(seen_at, 0, sizeof(seen_at));
		for (try = 0; try < 1024; try++)
			twice += seen_at[waitprof_place((void *)p, try) -
					 waitprof_slots]++;
	}
	is(twice, 0, "the places of a task are all different");
	waitprof_slot_exit();
}

int main(void)
{
	test_places();
	test_row();
	test_fill(65536, SLAB);
	test_fill(65536, RANDOM);
	test_fill(65536, MIXED);
	test_fill(1024, SLAB);
	test_fill(1024, RANDOM);
	test_fill(1024, MIXED);
	test_brim(64);
	test_brim(256);
	test_over_full();
	test_displaced();
	test_reach();
	test_sequence();
	test_close();
	test_cut();
	test_size();
	return tap_done();
}
