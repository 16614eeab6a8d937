// SPDX-License-Identifier: GPL-2.0
/* PROBE: what is counted besides waits. See tracker.h. */

#include <linux/atomic.h>
#include <linux/buffer_head.h>
#include <linux/hash.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include "compat/bio.h"
#include "compat/kretprobe.h"
#include "compat/regs.h"
#include "object.h"
#include "path.h"
#include "point.h"
#include "tracker.h"

/**
 * struct waitprof_tracker - what is counted
 * @used: there is one in this place
 * @paired: it has a second function
 * @counted: it was attached at some time
 * @mapped: its objects are followed (live=map)
 * @armed: all of its probes are in place, so it counts
 * @index: of this place
 * @serial: its number, never used twice: paths of an old one stay in the table
 * @unit: bytes of an object, 0 if unknown
 * @name: of the object
 * @symbol: of the two functions
 * @note: what the report says: the functions, as long as they are there
 * @alloc: on the function that hands out
 * @give_back: on the function that takes back
 */
struct waitprof_tracker {
	bool used;
	bool paired;
	bool counted;
	bool mapped;
	bool armed;
	u32 index;
	u32 serial;
	u32 unit;
	char name[WAITPROF_TRACKER_NAME];
	char symbol[2][WAITPROF_TRACKER_SYMBOL];
	char note[2 * WAITPROF_TRACKER_SYMBOL];
	struct waitprof_point alloc;
	struct waitprof_point give_back;
};

static struct waitprof_tracker waitprof_trackers[WAITPROF_TRACKERS];
static u32 waitprof_serial;
static unsigned int waitprof_maxactive;
/* Recording, so functions that come are to be attached to. */
static bool waitprof_trackers_on;
/* Guards all of these. Taken within that of control.c, and by the notifier. */
static DEFINE_MUTEX(waitprof_tracker_lock);

/* What a call of a probed function means. */
enum waitprof_event {
	WAITPROF_CALL,			/* counted, nothing else */
	WAITPROF_ALLOC,			/* an object is handed out */
	WAITPROF_FREE,			/* the first argument is taken back */
	WAITPROF_BIO_PUT,		/* the same, if it is the last put */
};

/* Functions of our own among those that are probed: as long as their calls come
 * through, so do the others'. The kernel lets ftrace, and all kprobes, be
 * switched off without a word to those who use them.
 */
enum waitprof_anchor {
	WAITPROF_BY_FTRACE,
	WAITPROF_BY_KPROBE,		/* which ftrace calls */
	WAITPROF_BY_BREAKPOINT,		/* where ftrace does not call */
	WAITPROF_ANCHORS
};

static struct waitprof_point waitprof_anchors[WAITPROF_ANCHORS];
static unsigned long waitprof_anchor_hits[WAITPROF_ANCHORS];

static struct waitprof_point *waitprof_anchor_of(struct waitprof_point *point)
{
	if (point->ftrace)
		return &waitprof_anchors[WAITPROF_BY_FTRACE];
	if (kprobe_ftrace(&point->probe.kp))
		return &waitprof_anchors[WAITPROF_BY_KPROBE];
	return &waitprof_anchors[WAITPROF_BY_BREAKPOINT];
}

/**
 * waitprof_point_reached() - are the probes reached that are like this one?
 * @point: the probe
 *
 * Context: process; trackers neither start nor stop meanwhile.
 * Return: whether; true if that cannot be told.
 */
bool waitprof_point_reached(struct waitprof_point *point)
{
	struct waitprof_point *anchor = waitprof_anchor_of(point);
	unsigned long *hits = &waitprof_anchor_hits[anchor - waitprof_anchors];
	unsigned long before = READ_ONCE(*hits);

	if (!point->attached || !anchor->attached)
		return true;
	waitprof_tracker_anchor();
	waitprof_tracker_anchor_notrace();
	return READ_ONCE(*hits) != before;
}

/* live=count: that one is handed out, whatever comes of it. */
static __always_inline void waitprof_on_alloc(struct waitprof_tracker *t,
					      unsigned long ip,
					      struct pt_regs *regs, int net)
{
	u32 path = waitprof_path(t->serial, ip, regs);
	struct waitprof_object_cells *c =
		this_cpu_read(waitprof_object_active);
	struct waitprof_object_cell *cell = &c->tracker[t->index];

	OPTIMIZER_HIDE_VAR(cell);	/* or its address is computed twice */
	waitprof_object_count(c, cell, path);
	if (net)
		waitprof_object_net(c, cell, net);
}

static __always_inline void waitprof_on_free(struct waitprof_tracker *t,
					     unsigned long object)
{
	struct waitprof_object_cells *c =
		this_cpu_read(waitprof_object_active);
	struct waitprof_object_cell *cell = &c->tracker[t->index];

	if (unlikely(!object))
		return;
	if (t->mapped) {
		waitprof_object_free_mapped(t->index, object);
		return;
	}
	OPTIMIZER_HIDE_VAR(cell);	/* as above */
	cell->counts.frees++;
	waitprof_object_net(c, cell, -1);
}

/* A handler is at work on this CPU. */
static DEFINE_PER_CPU(bool, waitprof_tracker_busy);

/* Interrupts are off, so a second one is of a non-maskable interrupt, or of a
 * function that the handler itself has called: it must not touch what the first
 * is about to change.
 */
static __always_inline bool waitprof_hit_begin(struct waitprof_point *point)
{
	if (unlikely(this_cpu_read(waitprof_tracker_busy))) {
		atomic_long_inc(&point->missed);
		return false;
	}
	this_cpu_write(waitprof_tracker_busy, true);
	return true;
}

static __always_inline void waitprof_hit_end(void)
{
	this_cpu_write(waitprof_tracker_busy, false);
}

/* Bios of which the last but one reference was put, until the last is. */
#define WAITPROF_BIO_BITS	6
static unsigned long waitprof_bio_shared[1 << WAITPROF_BIO_BITS];

/* Will this bio_put() give the bio back? Two that put the last two references at
 * one time both take theirs for the last but one: that is missed.
 */
static __always_inline bool waitprof_bio_last_put(struct waitprof_point *point,
						  struct bio *bio)
{
	unsigned long *shared =
		&waitprof_bio_shared[hash_ptr(bio, WAITPROF_BIO_BITS)];
	int refs = waitprof_bio_refs(bio);

	if (refs == 2 && xchg(shared, (unsigned long)bio) == (unsigned long)bio)
		atomic_long_inc(&point->missed);
	else if (refs == 1 && READ_ONCE(*shared) == (unsigned long)bio)
		WRITE_ONCE(*shared, 0);
	return refs == 1;
}

/* The entry of a function, at @ip; interrupts are off. */
static __always_inline void waitprof_tracker_hit(struct waitprof_point *point,
						 unsigned long ip,
						 struct pt_regs *regs)
{
	unsigned long object = waitprof_argument(regs, 0);
	struct waitprof_tracker *t = point->owner;

	if (unlikely(!t)) {
		waitprof_anchor_hits[point - waitprof_anchors]++;
		return;
	}
	if (unlikely(!READ_ONCE(t->armed)))
		return;
	if (!waitprof_hit_begin(point))
		return;
	switch (point->event) {
	case WAITPROF_CALL:
		waitprof_on_alloc(t, ip, regs, 0);
		break;
	case WAITPROF_ALLOC:
		waitprof_on_alloc(t, ip, regs, 1);
		break;
	case WAITPROF_BIO_PUT:
		/* On recent kernels the bio goes to a cache of the CPU's, so
		 * that bio_free() is not called.
		 */
		if (!object ||
		    !waitprof_bio_last_put(point, (struct bio *)object))
			break;
		fallthrough;
	case WAITPROF_FREE:
		waitprof_on_free(t, object);
		break;
	}
	waitprof_hit_end();
}

static int waitprof_tracker_kprobe(struct kprobe *p, struct pt_regs *regs)
{
	struct waitprof_point *point =
		container_of(p, struct waitprof_point, probe.kp);
	unsigned long flags;

	local_irq_save(flags);
	waitprof_tracker_hit(point, (unsigned long)p->addr, regs);
	local_irq_restore(flags);
	return 0;
}

NOKPROBE_SYMBOL(waitprof_tracker_kprobe);

static WAITPROF_FTRACE_HANDLER(waitprof_tracker_called);

static struct waitprof_calls waitprof_tracker_calls =
	WAITPROF_CALLS_INIT(waitprof_tracker_called);

static struct waitprof_point waitprof_anchors[WAITPROF_ANCHORS] = {
	[WAITPROF_BY_FTRACE] = {
		.symbol = KBUILD_MODNAME ":waitprof_tracker_anchor",
		.calls = &waitprof_tracker_calls,
		.handler = waitprof_tracker_kprobe,
	},
	[WAITPROF_BY_KPROBE] = {
		.symbol = KBUILD_MODNAME ":waitprof_tracker_anchor",
		.handler = waitprof_tracker_kprobe,
	},
	[WAITPROF_BY_BREAKPOINT] = {
		.symbol = KBUILD_MODNAME ":waitprof_tracker_anchor_notrace",
		.handler = waitprof_tracker_kprobe,
	},
};

static WAITPROF_FTRACE_HANDLER(waitprof_tracker_called)
{
	struct waitprof_point *point;
	unsigned long flags;

	local_irq_save(flags);
	point = waitprof_calls_find(&waitprof_tracker_calls, ip);
	if (likely(point))
		waitprof_tracker_hit(point, ip, WAITPROF_FTRACE_REGS);
	local_irq_restore(flags);
}

NOKPROBE_SYMBOL(waitprof_tracker_called);

/* live=map: the path is found at the entry, the object at the return. */
static int waitprof_on_entry(struct kretprobe_instance *ri,
			     struct pt_regs *regs)
{
	struct kretprobe *rp = waitprof_kretprobe(ri);
	struct waitprof_tracker *t =
		container_of(rp, struct waitprof_tracker, alloc.probe);
	unsigned long flags;
	bool seen;

	local_irq_save(flags);
	seen = waitprof_hit_begin(&t->alloc);
	if (seen) {
		*(u32 *)ri->data = waitprof_path(t->serial,
						 (unsigned long)rp->kp.addr,
						 regs);
		waitprof_hit_end();
	}
	local_irq_restore(flags);
	return !seen;	/* 1: nor is the return looked at */
}

NOKPROBE_SYMBOL(waitprof_on_entry);

static int waitprof_on_return(struct kretprobe_instance *ri,
			      struct pt_regs *regs)
{
	struct kretprobe *rp = waitprof_kretprobe(ri);
	struct waitprof_tracker *t;
	unsigned long flags;

	if (!rp)		/* unregistered meanwhile */
		return 0;
	t = container_of(rp, struct waitprof_tracker, alloc.probe);
	local_irq_save(flags);
	if (READ_ONCE(t->armed) && waitprof_hit_begin(&t->alloc)) {
		waitprof_object_return(t->index, *(u32 *)ri->data,
				       regs_return_value(regs));
		waitprof_hit_end();
	}
	local_irq_restore(flags);
	return 0;
}

NOKPROBE_SYMBOL(waitprof_on_return);

static void waitprof_tracker_set(struct waitprof_tracker *t, const char *name,
				 const char *alloc, const char *give_back)
{
	u32 index = t - waitprof_trackers;

	memset(t, 0, sizeof(*t));
	t->index = index;
	t->serial = waitprof_serial++;
	t->paired = give_back;
	t->mapped = give_back && waitprof_object_mapped();
	strscpy(t->name, name, sizeof(t->name));
	strscpy(t->symbol[0], alloc, sizeof(t->symbol[0]));
	t->alloc.symbol = t->symbol[0];
	if (give_back) {
		strscpy(t->symbol[1], give_back, sizeof(t->symbol[1]));
		t->give_back.symbol = t->symbol[1];
		t->give_back.owner = t;
		t->give_back.calls = &waitprof_tracker_calls;
		t->give_back.handler = waitprof_tracker_kprobe;
		t->give_back.event = WAITPROF_FREE;
	}
	t->alloc.owner = t;
	t->alloc.event = give_back ? WAITPROF_ALLOC : WAITPROF_CALL;
	if (!t->mapped) {
		t->alloc.calls = &waitprof_tracker_calls;
		t->alloc.handler = waitprof_tracker_kprobe;
	} else {
		t->alloc.entry = waitprof_on_entry;
		t->alloc.ret = waitprof_on_return;
		t->alloc.data_size = sizeof(u32);
		t->alloc.maxactive = waitprof_maxactive;
	}
	t->used = true;
}

static void waitprof_tracker_note(struct waitprof_tracker *t)
{
	struct waitprof_point *missing = t->alloc.err ? &t->alloc :
					 t->give_back.err ? &t->give_back : NULL;

	if (missing && missing->err == -ENOENT)
		snprintf(t->note, sizeof(t->note), "no %s in this kernel",
			 missing->symbol);
	else if (missing)
		snprintf(t->note, sizeof(t->note), "no probe on %s: error %d",
			 missing->symbol, missing->err);
	else if (t->paired)
		snprintf(t->note, sizeof(t->note), "%ps,%ps",
			 t->alloc.probe.kp.addr, t->give_back.probe.kp.addr);
	else
		snprintf(t->note, sizeof(t->note), "%ps",
			 t->alloc.probe.kp.addr);
}

/* Both functions or none: half a pair would count a leak that is none. */
static int waitprof_tracker_attach(struct waitprof_tracker *t)
{
	int err = waitprof_point_attach(&t->alloc);

	if (!err && t->paired) {
		err = waitprof_point_attach(&t->give_back);
		if (err)
			waitprof_point_detach(&t->alloc);
	}
	if (!err)
		t->counted = true;
	WRITE_ONCE(t->armed, !err);
	/* The note of one that was there stays, as do its numbers. */
	if (!err || !t->counted)
		waitprof_tracker_note(t);
	return err;
}

static void waitprof_tracker_detach(struct waitprof_tracker *t)
{
	WRITE_ONCE(t->armed, false);
	waitprof_point_detach(&t->alloc);
	waitprof_point_detach(&t->give_back);
}

static int waitprof_tracker_event(struct notifier_block *nb,
				  unsigned long event, void *data)
{
	struct waitprof_tracker *t;

	mutex_lock(&waitprof_tracker_lock);
	for (t = waitprof_trackers; t < waitprof_trackers + WAITPROF_TRACKERS;
	     t++) {
		if (!t->used)
			continue;
		if (event == MODULE_STATE_COMING && waitprof_trackers_on)
			waitprof_tracker_attach(t);
		else if (waitprof_point_leaves(&t->alloc, event, data) ||
			 waitprof_point_leaves(&t->give_back, event, data))
			waitprof_tracker_detach(t);
	}
	mutex_unlock(&waitprof_tracker_lock);
	return NOTIFY_DONE;
}

/* Before the notifier of site.c forgets the addresses. */
static struct notifier_block waitprof_tracker_nb = {
	.notifier_call = waitprof_tracker_event,
	.priority = 1,
};

/**
 * waitprof_tracker_start() - attach to all functions that are there
 *
 * Context: process, may sleep.
 */
void waitprof_tracker_start(void)
{
	u32 i;

	mutex_lock(&waitprof_tracker_lock);
	waitprof_trackers_on = true;
	for (i = 0; i < WAITPROF_TRACKERS; i++)
		if (waitprof_trackers[i].used)
			waitprof_tracker_attach(&waitprof_trackers[i]);
	for (i = 0; i < WAITPROF_ANCHORS; i++)
		waitprof_point_attach(&waitprof_anchors[i]);
	mutex_unlock(&waitprof_tracker_lock);
}

/**
 * waitprof_tracker_stop() - detach from all
 *
 * When it returns, no handler runs. What is taken back from now on is not seen.
 *
 * Context: process, may sleep.
 */
void waitprof_tracker_stop(void)
{
	u32 i;

	mutex_lock(&waitprof_tracker_lock);
	waitprof_trackers_on = false;
	for (i = 0; i < WAITPROF_TRACKERS; i++)
		waitprof_tracker_detach(&waitprof_trackers[i]);
	for (i = 0; i < WAITPROF_TRACKERS; i++)
		waitprof_object_stop(i);
	for (i = 0; i < WAITPROF_ANCHORS; i++)
		waitprof_point_detach(&waitprof_anchors[i]);
	mutex_unlock(&waitprof_tracker_lock);
}

static struct waitprof_tracker *waitprof_tracker_find(const char *name)
{
	u32 i;

	for (i = 0; i < WAITPROF_TRACKERS; i++)
		if (waitprof_trackers[i].used &&
		    !strcmp(waitprof_trackers[i].name, name))
			return &waitprof_trackers[i];
	return NULL;
}

/**
 * waitprof_tracker_add() - begin to count a function
 * @name: of the object
 * @alloc: the function, MOD:SYMBOL if it has to be that module's
 * @give_back: the function that takes back, or NULL
 *
 * A function of a module that is not loaded is waited for.
 *
 * Context: process, may sleep.
 * Return: 0; -EEXIST if the name is taken, -ENOSPC if there are too many,
 *	-ENOENT if there is no such function, another errno of register_kprobe()
 *	if it cannot be probed.
 */
int waitprof_tracker_add(const char *name, const char *alloc,
			 const char *give_back)
{
	struct waitprof_tracker *t = waitprof_trackers;
	bool wait = strchr(alloc, ':') || (give_back && strchr(give_back, ':'));
	int err;

	mutex_lock(&waitprof_tracker_lock);
	err = -EEXIST;
	if (waitprof_tracker_find(name))
		goto out;
	err = -ENOSPC;
	while (t < waitprof_trackers + WAITPROF_TRACKERS && t->used)
		t++;
	if (t == waitprof_trackers + WAITPROF_TRACKERS)
		goto out;
	waitprof_tracker_set(t, name, alloc, give_back);
	/* Switched off, it is tried all the same, for the error. */
	err = waitprof_tracker_attach(t);
	if (!waitprof_trackers_on) {
		waitprof_tracker_detach(t);
		waitprof_object_zero(t->index);
	}
	if (err == -ENOENT && wait)
		err = 0;
	if (err)
		t->used = false;
out:
	mutex_unlock(&waitprof_tracker_lock);
	return err;
}

/**
 * waitprof_tracker_remove() - no longer
 * @name: of the object
 *
 * Context: process, may sleep.
 * Return: 0; -ENOENT if there is none of that name.
 */
int waitprof_tracker_remove(const char *name)
{
	struct waitprof_tracker *t;

	mutex_lock(&waitprof_tracker_lock);
	t = waitprof_tracker_find(name);
	if (t) {
		waitprof_tracker_detach(t);
		t->used = false;
		waitprof_object_zero(t->index);
	}
	mutex_unlock(&waitprof_tracker_lock);
	return t ? 0 : -ENOENT;
}

/**
 * waitprof_tracker_sum() - what the report says of a tracker
 * @tracker: its place
 * @spare: of the window that was closed
 * @sum: gets it
 *
 * Context: process, may sleep.
 */
void waitprof_tracker_sum(u32 tracker, bool spare,
			  struct waitprof_tracker_sum *sum)
{
	struct waitprof_tracker *t = &waitprof_trackers[tracker];

	mutex_lock(&waitprof_tracker_lock);
	sum->used = t->used;
	sum->paired = t->paired;
	sum->counted = t->counted;
	sum->serial = t->serial;
	sum->unit = t->unit;
	strscpy(sum->name, t->name, sizeof(sum->name));
	strscpy(sum->note, t->note, sizeof(sum->note));
	sum->reached = waitprof_point_reached(&t->alloc) &&
		       waitprof_point_reached(&t->give_back);
	sum->missed = waitprof_point_missed(&t->alloc) +
		      waitprof_point_missed(&t->give_back);
	sum->peak = waitprof_object_sum(tracker, spare, &sum->counts);
	mutex_unlock(&waitprof_tracker_lock);
}

/**
 * waitprof_tracker_init() - make the trackers that are built in
 * @maxactive: calls of an allocating function at one time (live=map)
 *
 * Context: process, may sleep; after waitprof_object_init().
 * Return: 0 or a negative errno.
 */
int waitprof_tracker_init(unsigned int maxactive)
{
	struct waitprof_tracker *t = waitprof_trackers;

	waitprof_maxactive = maxactive;
	waitprof_tracker_set(t, "buffer_head", "alloc_buffer_head",
			     "free_buffer_head");
	t++->unit = sizeof(struct buffer_head);
	waitprof_tracker_set(t, "bio", "bio_alloc_bioset", "bio_put");
	t->give_back.event = WAITPROF_BIO_PUT;
	t++->unit = sizeof(struct bio);
	/* No kernel since 2.6 has it, but a module may. */
	waitprof_tracker_set(t++, "kiobuf", "alloc_kiovec", "free_kiovec");
	waitprof_tracker_set(t, "alloc_kiobuf_bhs", "alloc_kiobuf_bhs", NULL);
	return register_module_notifier(&waitprof_tracker_nb);
}

/**
 * waitprof_tracker_exit() - no longer watch modules
 *
 * Context: process, may sleep; after waitprof_tracker_stop().
 */
void waitprof_tracker_exit(void)
{
	unregister_module_notifier(&waitprof_tracker_nb);
}
