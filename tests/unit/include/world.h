/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A world for the probes: functions with names, and stacks made of calls of
 * them. To be included after shim.h.
 */
#ifndef _WORLD_H
#define _WORLD_H

enum world_function {
	TRACEITER,
	DO_SCHEDULE,		/* __schedule() */
	SCHEDULE,
	SCHEDULE_TIMEOUT,
	IO_SCHEDULE,
	MUTEX_LOCK,		/* aligns its stack; with a compiler's suffix */
	DOWN_COLD,
	FOLIO_WAIT,
	PIPE_READ,
	BREAD,
	DO_POLL_ISRA,
	TRAMPOLINE,		/* code made at run time */
	BPF_PROG,
	MOD_WAIT,
	MOD_WAIT2,
	MOD_INIT,
	MOD_ALLOC,
	MOD_FREE,
	ALLOC_BH,
	FREE_BH,
	BIO_ALLOC,
	BIO_PUT,
	SYSCALL,		/* do_syscall_64() */
	RETHOOK,		/* where a function with a return probe returns to */
	ANCHOR,			/* the module's own */
	ANCHOR_NOTRACE,
	RT_SCHEDULE,		/* rt_mutex_schedule() */
	POLLWAKE,
	PIPE_POLL,
	SOCK_POLL,
	UDP_POLL,
	SITES,			/* and from here on, as many as there may be */
	FUNCTIONS = SITES + 64
};

#define WORLD_SIZE	0x800ul		/* of a function */
#define WORLD_TEXT	0xffffffff81000000ul
#define WORLD_MODULE	0xffffffffc0000000ul
#define WORLD_INIT	0xffffffffc0100000ul

static struct shim_symbol world_symbols[FUNCTIONS];
static char world_names[FUNCTIONS][16];
static struct module world_module __maybe_unused = {
	WORLD_MODULE, 0x2000, WORLD_INIT, 0x1000
};

static unsigned long world_addr(int func)
{
	switch (func) {
	case MOD_WAIT:
		return WORLD_MODULE;
	case MOD_WAIT2:
		return WORLD_MODULE + 0x1000;
	case MOD_FREE:
		return WORLD_MODULE + 0x800;
	case MOD_ALLOC:
		return WORLD_MODULE + 0x1800;
	case MOD_INIT:
		return WORLD_INIT;
	default:
		return WORLD_TEXT + 0x1000ul * func;
	}
}

/* A return address in a function. */
static unsigned long world_ra(int func)
{
	return world_addr(func) + 0x44;
}

static void world_init(void)
{
	static const char * const names[SITES][2] = {
		[TRACEITER] = { "__traceiter_sched_switch" },
		[DO_SCHEDULE] = { "__schedule" },
		[SCHEDULE] = { "schedule" },
		[SCHEDULE_TIMEOUT] = { "schedule_timeout" },
		[IO_SCHEDULE] = { "io_schedule" },
		[MUTEX_LOCK] = { "__mutex_lock.constprop.0" },
		[DOWN_COLD] = { "__down_common.cold" },
		[FOLIO_WAIT] = { "folio_wait_bit_common.isra.0" },
		[PIPE_READ] = { "pipe_read" },
		[BREAD] = { "__bread_gfp" },
		[DO_POLL_ISRA] = { "do_poll.isra.0" },
		[TRAMPOLINE] = { "ftrace_trampoline", "__builtin__ftrace" },
		[BPF_PROG] = { "bpf_prog_6deef7357e7b4530_f", "bpf" },
		[MOD_WAIT] = { "mod_wait", "wpmod" },
		[MOD_WAIT2] = { "mod_wait2", "wpmod" },
		[MOD_INIT] = { "mod_init", "wpmod" },
		[MOD_ALLOC] = { "mod_alloc", "wpmod" },
		[MOD_FREE] = { "mod_free", "wpmod" },
		[ALLOC_BH] = { "alloc_buffer_head" },
		[FREE_BH] = { "free_buffer_head" },
		[BIO_ALLOC] = { "bio_alloc_bioset" },
		[BIO_PUT] = { "bio_put" },
		[SYSCALL] = { "do_syscall_64" },
		[RETHOOK] = { "arch_rethook_trampoline" },
		[ANCHOR] = { "waitprof_tracker_anchor", "waitprof" },
		[ANCHOR_NOTRACE] = { "waitprof_tracker_anchor_notrace", "waitprof" },
		[RT_SCHEDULE] = { "rt_mutex_schedule" },
		[POLLWAKE] = { "pollwake" },
		[PIPE_POLL] = { "pipe_poll" },
		[SOCK_POLL] = { "sock_poll" },
		[UDP_POLL] = { "udp_poll" },
	};
	int i;

	for (i = 0; i < FUNCTIONS; i++) {
		struct shim_symbol *s = &world_symbols[i];

		s->start = world_addr(i);
		s->size = WORLD_SIZE;
		if (i < SITES) {
			s->name = names[i][0];
			s->module = names[i][1];
			s->no_ftrace = i == ANCHOR_NOTRACE;
			continue;
		}
		sprintf(world_names[i], "site_%02d", i - SITES);
		s->name = world_names[i];
	}
	shim_symbols = world_symbols;
	shim_nsymbols = FUNCTIONS;
}

#define WORLD_WORDS	(THREAD_SIZE / sizeof(long))
#define WORLD_DEPTH	40

/* A call on a stack: where it returns to, and how many words up lies the next
 * return address.
 */
struct world_call {
	int func;
	unsigned int distance;
};

struct world_stack {
	unsigned long *word;	/* THREAD_SIZE, aligned to that */
	struct shim_frame frame[WORLD_DEPTH];
};

static void world_stack_alloc(struct world_stack *st)
{
	if (posix_memalign((void **)&st->word, THREAD_SIZE, THREAD_SIZE))
		abort();
	memset(st->word, 0, THREAD_SIZE);
}

/* Lay @calls on the stack of @t, the innermost at word @at. */
static unsigned long *world_stack(struct world_stack *st, struct task_struct *t,
				  unsigned int at,
				  const struct world_call *calls, int n)
{
	unsigned long *first = &st->word[at];
	int i;

	memset(st->word, 0, THREAD_SIZE);
	memset(st->frame, 0, sizeof(st->frame));
	for (i = 0; i < n; i++) {
		st->word[at] = world_ra(calls[i].func);
		st->frame[i].ra = world_ra(calls[i].func);
		st->frame[i].slot = &st->word[at];
		at += calls[i].distance;
	}
	t->frame = st->frame;
	t->nframes = n;
	return first;
}

#ifdef CONFIG_KRETPROBE_ON_RETHOOK
/* Return probes that have hidden a return address of @t, from the outermost in. */
static struct rethook_node world_hooks[4 * WORLD_DEPTH] __maybe_unused;
static unsigned int world_nhooks __maybe_unused;

static void world_hook(struct task_struct *t, const struct shim_frame *f,
		       unsigned int probes)
{
	for (; probes; probes--) {
		struct rethook_node *n = &world_hooks[world_nhooks++];

		n->ret_addr = *f->slot;
		n->frame = (unsigned long)f->slot;
		n->llist.next = t->rethooks.first;
		t->rethooks.first = &n->llist;
		*f->slot = world_addr(RETHOOK);
	}
}

/* They are no longer known, and hide what they have hidden. */
static void world_unhook(struct task_struct *t)
{
	t->rethooks.first = NULL;
	world_nhooks = 0;
}
#endif

#define CALLS(...)	((const struct world_call[]){ __VA_ARGS__ }),	\
	(sizeof((const struct world_call[]){ __VA_ARGS__ }) /		\
	 sizeof(struct world_call))

#endif /* _WORLD_H */
