// SPDX-License-Identifier: GPL-2.0
/* Slots: none is lost, all are found, all are given back. */

#include "shim.h"
#include "tap.h"
#include "slot.c"

#define MOST	65536
#define PIDS	4194304

static struct task_struct task[MOST];
static struct waitprof_slot *slot_of[MOST];

/* The beginning and the end of a wait, as record.c does them. */
static struct waitprof_slot *begin(struct task_struct *t, u64 now)
{
	struct waitprof_slot *s = waitprof_place(t->pid, 0);

	if (cmpxchg(&s->task, NULL, t)) {
		s = waitprof_claim_next(t);
		if (!s)
			return NULL;
	}
	s->t0 = now;
	s->row = 1;
	s->epoch = 0;
	s->pid = t->pid;
	smp_store_release(&s->seq, s->seq + 1);
	return s;
}

static void end(struct waitprof_slot *s)
{
	WRITE_ONCE(s->seq, s->seq + 1);
	waitprof_slot_free(s);
}

static void load(unsigned int slots)
{
	if (waitprof_slot_init(slots))
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

enum pids { SEQUENTIAL, RANDOM, STRIDE };

static void make_pids(enum pids how, unsigned int n, unsigned int seed)
{
	static unsigned char taken[PIDS];
	unsigned int i;

	memset(taken, 0, sizeof(taken));
	for (i = 0; i < n; i++) {
		pid_t pid = 300 + i;

		while (how == RANDOM) {
			pid = 1 + tap_random(&seed) % (PIDS - 1);
			if (!taken[pid])
				break;
		}
		if (how == STRIDE)	/* each process with 7 short-lived ones */
			pid = 1 + i * 8 % (PIDS - 1);
		taken[pid] = 1;
		memset(&task[i], 0, sizeof(task[i]));
		task[i].pid = pid;
	}
}

static void test_fill(unsigned int slots, enum pids how)
{
	static const char * const names[] = { "in order", "random", "every 8th" };
	unsigned int n = slots / 10 * 9, i, lost = 0, missed = 0, moved = 0;
	unsigned int state = slots + how, alien = 0;
	unsigned int all = min(2 * n, MOST + 0u);
	static unsigned int order[MOST];
	const char *name = names[how];

	load(slots);
	make_pids(how, all, how);
	for (i = 0; i < n; i++) {
		slot_of[i] = begin(&task[i], i);
		lost += !slot_of[i];
	}
	is(lost, 0, "%u slots, pids %s: 90 %% full, none is lost", slots, name);
	is(used(), n, "%u slots, pids %s: each has one of its own", slots, name);
	for (i = 0; i < n; i++) {
		struct waitprof_slot *s = waitprof_slot_find(&task[i]);

		missed += s != slot_of[i] || s->pid != task[i].pid;
		moved += s != waitprof_place(task[i].pid, 0);
	}
	is(missed, 0, "%u slots, pids %s: each is found (%u elsewhere)", slots,
	   name, moved);
	for (; i < all; i++)
		alien += waitprof_slot_find(&task[i]) != NULL;
	is(alien, 0, "%u slots, pids %s: who has none finds none", slots, name);

	/* Now as in life: one ends, another begins, which may be the same. */
	for (i = 0; i < all; i++)
		order[i] = i;
	for (i = 0; i < 2 * n; i++) {
		unsigned int k = tap_random(&state) % n;
		unsigned int next = n + tap_random(&state) % (all - n);
		struct task_struct *t = &task[order[k]];

		missed += waitprof_slot_find(t) != slot_of[k];
		end(slot_of[k]);
		alien += waitprof_slot_find(t) != NULL;
		if (i & 1)
			swap(order[k], order[next]);
		slot_of[k] = begin(&task[order[k]], i);
		if (!slot_of[k]) {
			lost++;
			break;
		}
	}
	is(lost, 0, "%u slots, pids %s: nor in a long run at 90 %%", slots, name);
	is(missed + alien, 0, "%u slots, pids %s: all found then, no other",
	   slots, name);
	for (i = 0; i < n; i++)
		end(slot_of[i]);
	is(used() + displaced(), 0, "%u slots, pids %s: at the end all free",
	   slots, name);
	waitprof_slot_exit();
}

/* Few slots: each is tried, and the last is found. */
static void test_brim(unsigned int slots)
{
	unsigned int i, lost = 0, missed = 0, before;

	load(slots);
	make_pids(RANDOM, slots + 20, slots);
	for (i = 0; i < slots; i++) {
		slot_of[i] = begin(&task[i], 0);
		lost += !slot_of[i];
	}
	is(lost, 0, "%u slots: filled to the brim", slots);
	before = displaced();
	for (i = 0; i < 20; i++)
		lost += !begin(&task[slots + i], 0);
	is(lost, 20, "%u slots: then there is none", slots);
	is(displaced(), before, "%u slots: which leaves no trace", slots);
	for (i = 0; i < slots; i++)
		missed += waitprof_slot_find(&task[i]) != slot_of[i];
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
	make_pids(RANDOM, 4096, 3);
	for (i = 0; i < 4096; i++) {
		slot_of[n] = begin(&task[i], 0);
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
	struct task_struct a = { .pid = 5 }, b = { .pid = 5 + 64 };
	struct task_struct c = { .pid = 5 + 128 };
	struct waitprof_slot *sa, *sb, *sc;

	load(64);
	ok(!waitprof_slot_find(&a), "an empty table");
	sa = begin(&a, 1);
	sb = begin(&b, 2);
	ok(sa != sb && sa && sb, "two tasks with one first choice");
	ok(!waitprof_slot_find(&c), "a third has none");
	end(sa);
	ok(waitprof_slot_find(&b) == sb, "found though the first choice is free");
	sc = begin(&c, 3);
	ok(sc == sa, "which the third takes");
	ok(waitprof_slot_find(&b) == sb && waitprof_slot_find(&c) == sc,
	   "both are found");
	end(sc);
	is(displaced(), 1, "one is elsewhere");
	end(sb);
	is(displaced(), 0, "none is");
	sa = begin(&a, 4);
	end(sa);
	is(displaced(), 0, "an end at the first choice does not count down");
	sa = begin(&a, 4);
	sb = begin(&b, 4);
	end(sb);
	sb = begin(&b, 5);
	end(sa);
	end(sb);
	is(displaced(), 0, "nor does it stay up");
	is(used(), 0, "all are free");
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
	struct task_struct a = { .pid = 1 }, b = { .pid = 2 }, c = { .pid = 3 };
	struct task_struct d = { .pid = 1 + 64 };
	struct waitprof_slot *sa, *sb, *sd;
	u32 *seqs;

	load(64);
	seqs = calloc(64, sizeof(*seqs));
	sa = begin(&a, 10);
	sb = begin(&b, 20);
	waitprof_slot_seqs(seqs);
	is(waitprof_slot_flights(seqs, see, NULL), 0, "no race");
	ok(nseen == 2 && seen[0].t0 == 10 && seen[0].pid == 1 &&
	   seen[1].t0 == 20 && seen[1].pid == 2, "two are in flight");

	nseen = 0;
	end(sb);
	begin(&c, 30);
	is(waitprof_slot_flights(seqs, see, NULL), 1, "one ended meanwhile");
	ok(nseen == 1 && seen[0].pid == 1,
	   "it is not seen, nor is one that began meanwhile");

	/* The same slot, another wait. */
	nseen = 0;
	waitprof_slot_seqs(seqs);
	end(sa);
	sd = begin(&d, 40);
	ok(sd == sa, "another task in the same slot");
	is(waitprof_slot_flights(seqs, see, NULL), 1, "is a race");
	is(nseen, 1, "and is not taken for the first");

	nseen = 0;
	waitprof_slot_seqs(seqs);
	end(sd);
	begin(&a, 40);
	end(sa);
	is(waitprof_slot_flights(seqs, see, NULL), 1, "several in one slot");
	is(nseen, 1, "count once");
	waitprof_slot_exit();
	free(seqs);
}

static void test_close(void)
{
	struct task_struct a = { .pid = 1 }, b = { .pid = 2 }, c = { .pid = 3 };
	struct waitprof_slot *sa, *sb, *sc;

	load(64);
	sa = begin(&a, 10);
	sb = begin(&b, 20);
	sc = begin(&c, 100);		/* after the end of the window */
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
	struct task_struct t[70];
	u64 cut = 3, cut_ns = 7;
	unsigned int i;
	int off = 0;

	load(64);
	for (i = 0; i < 60; i++) {
		t[i] = (struct task_struct) { .pid = 1 + i * 64 };
		begin(&t[i], i < 30 ? 100 : 200);
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
		off += waitprof_slot_find(&t[i]) != NULL;
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
	unsigned int pid, try, twice = 0, state = 1;
	static unsigned char seen_at[1024];

	load(1024);
	for (pid = 1; pid < 200; pid++) {
		unsigned int p = pid < 100 ? pid : tap_random(&state) % PIDS;

		memset(seen_at, 0, sizeof(seen_at));
		for (try = 0; try < 1024; try++)
			twice += seen_at[waitprof_place(p, try) -
					 waitprof_slots]++;
	}
	is(twice, 0, "the places of a task are all different");
	waitprof_slot_exit();
}

int main(void)
{
	test_places();
	test_fill(65536, SEQUENTIAL);
	test_fill(65536, RANDOM);
	test_fill(65536, STRIDE);
	test_fill(1024, SEQUENTIAL);
	test_fill(1024, RANDOM);
	test_fill(1024, STRIDE);
	test_brim(64);
	test_brim(256);
	test_over_full();
	test_displaced();
	test_sequence();
	test_close();
	test_cut();
	test_size();
	return tap_done();
}
