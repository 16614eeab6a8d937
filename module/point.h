/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PROBE: a function of the kernel with a probe on its entry, or on its entry
 * and its return.
 *
 * At an entry ftrace calls, where it can; else a kprobe stands there. A kprobe
 * it is in either case that finds the function and knows which ones must be
 * left alone; where ftrace calls, it stays disabled.
 */
#ifndef _WAITPROF_POINT_H
#define _WAITPROF_POINT_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/hash.h>
#include <linux/kprobes.h>
#include <linux/types.h>
#include "compat/ftrace.h"

struct module;

#define WAITPROF_CALLS_BITS	6
#define WAITPROF_CALLS		BIT(WAITPROF_CALLS_BITS)

/**
 * struct waitprof_calls - functions at whose entries ftrace calls one handler
 * @ops: what ftrace knows of them; the handler is the user's
 * @points: how many they are
 * @at: found by the address of the entry; 0 where there is none
 *
 * Once there are no more points, ftrace has to see all tasks come by before it
 * is sure that the handler runs nowhere; so many functions share one.
 */
struct waitprof_calls {
#ifdef WAITPROF_FTRACE
	struct ftrace_ops ops;
#endif
	unsigned int points;
	struct {
		unsigned long ip;
		struct waitprof_point *point;
	} at[WAITPROF_CALLS];
};

#ifdef WAITPROF_FTRACE
#define WAITPROF_CALLS_INIT(handler)					\
	{ .ops = { .func = (handler), .flags = WAITPROF_FTRACE_FLAGS } }
#else
#define WAITPROF_CALLS_INIT(handler)	{}
#endif

/**
 * struct waitprof_point - a function with a probe on it
 * @symbol: its name, module:name if it has to be that module's
 * @calls: to have ftrace call at the entry; NULL: only a kprobe will do
 * @handler: the kprobe's at the entry; NULL: a return probe, with the next four
 * @entry: called at its entry
 * @ret: called at its return
 * @data_size: bytes that the first leaves to the second
 * @maxactive: calls of the function at one time
 * @owner: for the handlers, whose it is
 * @event: for the handlers, what a call means
 * @probe: of which a kprobe is the first part; zeroed before each registration
 * @attached: it is registered
 * @ftrace: ftrace calls, so the kprobe is disabled
 * @err: why it is not attached, a negative errno
 * @missed: hits lost in earlier registrations, and those that no handler took
 */
struct waitprof_point {
	const char *symbol;
	struct waitprof_calls *calls;
	kprobe_pre_handler_t handler;
	kretprobe_handler_t entry;
	kretprobe_handler_t ret;
	size_t data_size;
	int maxactive;
	void *owner;
	int event;
	struct kretprobe probe;
	bool attached;
	bool ftrace;
	int err;
	atomic_long_t missed;
};

/**
 * waitprof_calls_find() - whose entry is it?
 * @calls: the points that share the handler
 * @ip: where ftrace was called from
 *
 * Context: the handler, with preemption off; the point stays while it is.
 * Return: the point; NULL if it has gone.
 */
static __always_inline struct waitprof_point *
waitprof_calls_find(struct waitprof_calls *calls, unsigned long ip)
{
	u32 i = hash_long(ip, WAITPROF_CALLS_BITS), n;

	for (n = 0; n < WAITPROF_CALLS; n++, i = (i + 1) % WAITPROF_CALLS)
		/* Acquire: pairs with the release in waitprof_calls_add(). */
		if (likely(smp_load_acquire(&calls->at[i].ip) == ip))
			return calls->at[i].point;
	return NULL;
}

void waitprof_point_ftrace(bool use);
int waitprof_point_attach(struct waitprof_point *point);
void waitprof_point_detach(struct waitprof_point *point);
void waitprof_point_exit(void);
bool waitprof_point_leaves(struct waitprof_point *point, unsigned long event,
			   struct module *mod);
unsigned long waitprof_point_missed(const struct waitprof_point *point);

#endif /* _WAITPROF_POINT_H */
