/* SPDX-License-Identifier: GPL-2.0 */
/* Kprobes, and the objects whose functions they stand on. */
#ifndef _SHIM_PROBE_H
#define _SHIM_PROBE_H

#include "shim_base.h"
#include "shim_print.h"
#include "shim_kernel.h"
#include "shim_ftrace.h"

struct kprobe;
typedef int (*kprobe_pre_handler_t)(struct kprobe *p, struct pt_regs *regs);

struct kprobe {
	void *addr;
	const char *symbol_name;
	kprobe_pre_handler_t pre_handler;
	unsigned long nmissed;
	unsigned int flags;
	struct kprobe *shim_next;
};

#define KPROBE_FLAG_DISABLED	2
#define KPROBE_FLAG_FTRACE	8
#define kprobe_ftrace(p)	((p)->flags & KPROBE_FLAG_FTRACE)

static struct kprobe *shim_kprobes __maybe_unused;	/* all */
static unsigned long shim_registrations __maybe_unused;

/* A module that is not loaded. */
static const char *shim_absent __maybe_unused;

/* On these functions there can be no kprobe. */
static struct {
	const char *symbol;
	int err;
} shim_refused[4] __maybe_unused;

/* All kprobes are switched off. */
static bool shim_kprobes_off __maybe_unused;

/* At the entry of this function ftrace does not call. */
static const char *shim_notrace __maybe_unused;

/* Something that happens while a kprobe is being put in place or taken away;
 * before that has an effect.
 */
static void (*shim_on_register)(struct kprobe *p) __maybe_unused;
static void (*shim_on_unregister)(struct kprobe *p) __maybe_unused;

/* @name: SYMBOL or MODULE:SYMBOL */
static inline const struct shim_symbol *shim_lookup(const char *name)
{
	const char *colon = strchr(name, ':');
	const char *symbol = colon ? colon + 1 : name;
	int i;

	for (i = 0; i < shim_nsymbols; i++) {
		const struct shim_symbol *s = &shim_symbols[i];

		if (strcmp(s->name, symbol))
			continue;
		if (s->module && shim_absent && !strcmp(s->module, shim_absent))
			continue;
		if (colon && (!s->module ||
			      strlen(s->module) != (size_t)(colon - name) ||
			      strncmp(s->module, name, colon - name)))
			continue;
		return s;
	}
	return NULL;
}

static inline int register_kprobe(struct kprobe *p)
{
	const struct shim_symbol *s;
	const struct kprobe *q;
	unsigned int i;

	shim_registrations++;
	for (q = shim_kprobes; q; q = q->shim_next)
		if (q == p)	/* it is in place, and was written over */
			abort();
	if (shim_on_register)
		shim_on_register(p);
	/* Only one of the two may be given. */
	if (p->addr || !p->symbol_name)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(shim_refused); i++)
		if (shim_refused[i].symbol &&
		    !strcmp(shim_refused[i].symbol, p->symbol_name))
			return shim_refused[i].err;
	s = shim_lookup(p->symbol_name);
	if (!s)
		return -ENOENT;
	if (shim_fails())
		return -ENOMEM;
	p->flags &= KPROBE_FLAG_DISABLED;
#ifdef CONFIG_KPROBES_ON_FTRACE
	if (!s->no_ftrace && (!shim_notrace || strcmp(shim_notrace, s->name)))
		p->flags |= KPROBE_FLAG_FTRACE;
#endif
	p->addr = (void *)s->start;
	p->nmissed = 0;
	p->shim_next = shim_kprobes;
	shim_kprobes = p;
	return 0;
}

static inline int enable_kprobe(struct kprobe *p)
{
	if (!p->addr || shim_irqs_off)
		abort();
	if (shim_fails())
		return -ENOMEM;
	p->flags &= ~KPROBE_FLAG_DISABLED;
	return 0;
}

/* It waits for all that runs with preemption off. */
static inline void unregister_kprobe(struct kprobe *p)
{
	struct kprobe **q = &shim_kprobes;

	if (shim_on_unregister)
		shim_on_unregister(p);
	synchronize_rcu();
	if (shim_ftrace_killed && kprobe_ftrace(p) &&
	    !(p->flags & KPROBE_FLAG_DISABLED)) {
		p->addr = NULL;	/* it stays */
		return;
	}
	for (; *q != p; q = &(*q)->shim_next)
		if (!*q)
			abort();
	*q = p->shim_next;
}

/* Return probes. An instance is a call in progress. */
struct kretprobe;
struct kretprobe_instance {
	struct kretprobe *rp;	/* NULL: unregistered meanwhile */
	bool busy;
	char data[16] __aligned(8);
};

typedef int (*kretprobe_handler_t)(struct kretprobe_instance *ri,
				   struct pt_regs *regs);

struct kretprobe {
	struct kprobe kp;
	kretprobe_handler_t handler;
	kretprobe_handler_t entry_handler;
	int maxactive;
	int nmissed;
	size_t data_size;
};

#define get_kretprobe(ri)	((ri)->rp)

#define SHIM_INSTANCES		8

static struct kretprobe_instance shim_instance[SHIM_INSTANCES] __maybe_unused;

static inline int shim_kretprobe_entry(struct kprobe *p, struct pt_regs *regs)
{
	struct kretprobe *rp = container_of(p, struct kretprobe, kp);
	struct kretprobe_instance *free = NULL;
	int i, n = 0;

	for (i = 0; i < SHIM_INSTANCES; i++) {
		struct kretprobe_instance *ri = &shim_instance[i];

		n += ri->busy && ri->rp == rp;
		if (!ri->busy)
			free = ri;
	}
	if (n >= rp->maxactive || !free) {
		rp->nmissed++;
		return 0;
	}
	memset(free, 0xa5, sizeof(*free));
	free->rp = rp;
	free->busy = !rp->entry_handler || !rp->entry_handler(free, regs);
	return 0;
}

static inline int register_kretprobe(struct kretprobe *rp)
{
	if (rp->data_size > sizeof(shim_instance[0].data) || rp->kp.pre_handler)
		return -EINVAL;
	rp->nmissed = 0;
	rp->kp.pre_handler = shim_kretprobe_entry;
	return register_kprobe(&rp->kp);
}

static inline void unregister_kretprobe(struct kretprobe *rp)
{
	int i;

	unregister_kprobe(&rp->kp);
	for (i = 0; i < SHIM_INSTANCES; i++)
		if (shim_instance[i].busy && shim_instance[i].rp == rp)
			shim_instance[i].rp = NULL;
}

/* All calls in progress return, with @value. */
static inline void shim_return(unsigned long value)
{
	struct pt_regs regs = { .ip = 0x4321, .ax = value };
	int i;

	for (i = 0; i < SHIM_INSTANCES; i++) {
		struct kretprobe_instance *ri = &shim_instance[i];

		if (!ri->busy)
			continue;
		if (ri->rp)
			ri->rp->handler(ri, &regs);
		ri->busy = false;
	}
}

/* One at a time is at work on a CPU; those that it calls are missed. */
static __thread bool shim_kprobe_running __maybe_unused;

static inline void shim_kprobe_hit(struct kprobe *p, struct pt_regs *regs)
{
	struct pt_regs before = *regs;
	int irqs = shim_irqs_off;

	if (shim_kprobe_running) {
		p->nmissed++;
		return;
	}
	shim_kprobe_running = true;
	shim_preempt_off++;
	p->pre_handler(p, regs);
	shim_preempt_off--;
	shim_kprobe_running = false;
	if (memcmp(&before, regs, sizeof(before)) || irqs != shim_irqs_off)
		abort();
}

/* A call of the function at @addr. Return: how many handlers there were. */
static inline unsigned int shim_hit(unsigned long addr, struct pt_regs *regs)
{
	unsigned int n = shim_ftrace_hit(addr, regs);
	struct kprobe *p, *next;

	for (p = shim_kprobes; p; p = next) {
		next = p->shim_next;
		if ((unsigned long)p->addr != addr ||
		    p->flags & KPROBE_FLAG_DISABLED || shim_kprobes_off ||
		    (shim_ftrace_off && kprobe_ftrace(p)))
			continue;
		shim_kprobe_hit(p, regs);
		n++;
	}
	return n;
}

/* Is nothing left in place? */
static inline bool shim_unprobed(void)
{
	return !shim_kprobes && !shim_ftrace && !shim_filters;
}

/* How many probes there are on a function, whoever calls their handlers. */
static inline unsigned int shim_probed(unsigned long addr)
{
	struct kprobe *p;
	unsigned int n = 0;

	for (p = shim_kprobes; p; p = p->shim_next)
		n += (unsigned long)p->addr == addr;
	return n;
}

/* Objects. */
struct buffer_head {
	char shim_size[104];
};

struct bio {
	unsigned short bi_flags;
	atomic_t __bi_cnt;
	char shim_size[112];
};

#define BIO_REFFED		2

static inline bool bio_flagged(struct bio *bio, unsigned int bit)
{
	return bio->bi_flags & 1u << bit;
}

#endif /* _SHIM_PROBE_H */
