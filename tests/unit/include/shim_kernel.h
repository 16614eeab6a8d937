/* SPDX-License-Identifier: GPL-2.0 */
/* CPUs, tasks, clocks, RCU, static keys, modules, the unwinder. */
#ifndef _SHIM_KERNEL_H
#define _SHIM_KERNEL_H

#include "shim_base.h"

/* CPUs. A per-CPU variable is a place in a section, as in the kernel; each CPU
 * has an area as large as that.
 */
#define SHIM_CPUS		4
#define SHIM_PERCPU_SIZE	8192

extern char __start_percpu[] __attribute__((weak));
extern char __stop_percpu[] __attribute__((weak));

static char shim_percpu[SHIM_CPUS][SHIM_PERCPU_SIZE] __aligned(256);
static int shim_cpus __maybe_unused = SHIM_CPUS;
/* The CPU that this thread runs on. */
static __thread int shim_cpu __maybe_unused;

/* How often each was switched off, and not on again. */
static __thread int shim_irqs_off __maybe_unused;
static __thread int shim_preempt_off __maybe_unused;
/* Handlers at work that were called as their functions were, preemptible. */
static __thread int shim_handling __maybe_unused;
/* An interrupt that cannot be masked has come in. */
static __thread bool shim_nmi __maybe_unused;

#define in_nmi()		shim_nmi

/* A handler has to stay where it is. */
static inline int smp_processor_id(void)
{
	if (shim_handling && !shim_irqs_off && !shim_preempt_off)
		abort();
	return shim_cpu;
}

#define DECLARE_PER_CPU(type, name)	extern __typeof__(type) name
#define DEFINE_PER_CPU(type, name) \
	__attribute__((section("percpu"), used)) __typeof__(type) name
#define per_cpu_ptr(p, cpu) ((__typeof__(p))				\
	(shim_percpu[cpu] + ((unsigned long)(p) -			\
			     (unsigned long)__start_percpu)))
#define per_cpu(var, cpu)	(*per_cpu_ptr(&(var), cpu))
#define this_cpu_ptr(p)		per_cpu_ptr(p, smp_processor_id())
#define this_cpu_read(var)	(*this_cpu_ptr(&(var)))
#define this_cpu_write(var, v)	(*this_cpu_ptr(&(var)) = (v))
#define this_cpu_inc(var)	((*this_cpu_ptr(&(var)))++)

/* As at the load of a module. */
static inline void shim_percpu_reset(void)
{
	if (__stop_percpu - __start_percpu > SHIM_PERCPU_SIZE)
		abort();
	memset(shim_percpu, 0, sizeof(shim_percpu));
}

#define for_each_possible_cpu(cpu) for ((cpu) = 0; (cpu) < shim_cpus; (cpu)++)
#define num_possible_cpus()	((unsigned int)shim_cpus)
#define num_online_cpus()	((unsigned int)shim_cpus)
#define cpu_to_node(cpu)	((void)(cpu), 0)
#define get_cpu()		shim_cpu
#define put_cpu()		do { } while (0)
#define preempt_disable()	((void)shim_preempt_off++)
#define preempt_enable()	((void)shim_preempt_off--)
#define preempt_disable_notrace() preempt_disable()
#define preempt_enable_notrace() preempt_enable()

/* Clocks, ns. Each CPU's may be off, each thread has its own time. */
static __thread u64 shim_clock __maybe_unused;
static u64 shim_mono __maybe_unused;
static u64 shim_real __maybe_unused;
static s64 shim_clock_off[SHIM_CPUS] __maybe_unused;
static bool shim_tsc_unstable __maybe_unused;

#define cpu_clock(cpu)	(shim_clock + shim_clock_off[cpu])
#define ktime_get_mono_fast_ns() shim_mono
#define ktime_get_real_ns()	shim_real
#define check_tsc_unstable()	shim_tsc_unstable

/* The processor, a bit for each of these. */
enum {
	X86_FEATURE_HYPERVISOR,
	X86_FEATURE_CONSTANT_TSC,
	X86_FEATURE_NONSTOP_TSC,
};

static unsigned long shim_cpu_features __maybe_unused;

#define boot_cpu_has(feature)	(shim_cpu_features >> (feature) & 1)

/* Both may run something in between. */
static void (*shim_on_rcu)(void) __maybe_unused;
static void (*shim_on_resched)(void) __maybe_unused;

/* None of these may be called with interrupts or preemption off. */
static inline void synchronize_rcu(void)
{
	if (shim_irqs_off || shim_preempt_off)
		abort();
	if (shim_on_rcu)
		shim_on_rcu();
}

#define MAX_SCHEDULE_TIMEOUT	((long)(~0ul >> 1))

/* Who sleeps for ever is woken by this. */
static void (*shim_on_idle)(void) __maybe_unused;

static inline long schedule_timeout_idle(long timeout)
{
	if (timeout != MAX_SCHEDULE_TIMEOUT || !shim_on_idle)
		abort();
	shim_on_idle();
	return timeout;
}

static inline void cond_resched(void)
{
	if (shim_on_resched)
		shim_on_resched();
}

#define local_irq_save(flags)	((void)((flags) = shim_irqs_off++))
#define local_irq_restore(flags) ((void)(shim_irqs_off = (flags)))
#define raw_local_irq_save(flags) local_irq_save(flags)
#define raw_local_irq_restore(flags) local_irq_restore(flags)

#define rcu_read_lock()		do { } while (0)
#define rcu_read_unlock()	do { } while (0)

/* Static keys. */
struct shim_key {
	bool on;
};

#define DECLARE_STATIC_KEY_FALSE(name)	extern struct shim_key name
#define DEFINE_STATIC_KEY_FALSE(name)	struct shim_key name
#define static_branch_unlikely(key)	unlikely((key)->on)
#define static_branch_enable(key)	((void)((key)->on = true))
#define static_branch_disable(key)	((void)((key)->on = false))
#define static_key_enabled(key)		((key)->on)

/* Which of the coming registrations fail: a bit for each, the lowest for the next
 * one.
 */
static unsigned int shim_failing __maybe_unused;

static inline bool shim_fails(void)
{
	bool fails = shim_failing & 1;

	shim_failing >>= 1;
	return fails;
}

/* Locks: there is one thread, so that a lock taken twice is a deadlock. */
struct mutex {
	bool locked;
};

typedef struct {
	bool locked;
} raw_spinlock_t;

static bool shim_signal __maybe_unused;	/* one is pending */

#define __MUTEX_INITIALIZER(name)	{ false }

static inline void shim_lock(bool *locked)
{
	if (*locked)
		abort();
	*locked = true;
}

static inline void shim_unlock(bool *locked)
{
	if (!*locked)
		abort();
	*locked = false;
}

#define DEFINE_MUTEX(name)	struct mutex name = __MUTEX_INITIALIZER(name)
#define mutex_lock(m)		shim_lock(&(m)->locked)
#define mutex_unlock(m)		shim_unlock(&(m)->locked)

static inline int mutex_lock_interruptible(struct mutex *m)
{
	if (shim_signal)
		return -EINTR;
	mutex_lock(m);
	return 0;
}

#define raw_spin_lock_irqsave(lock, flags) \
	((flags) = 0, shim_lock(&(lock)->locked))
#define raw_spin_unlock_irqrestore(lock, flags) \
	((void)(flags), shim_unlock(&(lock)->locked))

/* Tasks. */
#define TASK_RUNNING		0x0000
#define TASK_INTERRUPTIBLE	0x0001
#define TASK_UNINTERRUPTIBLE	0x0002
#define __TASK_STOPPED		0x0004
#define __TASK_TRACED		0x0008
#define TASK_PARKED		0x0040
#define TASK_DEAD		0x0080
#define TASK_WAKEKILL		0x0100
#define TASK_WAKING		0x0200
#define TASK_NOLOAD		0x0400
#define TASK_NEW		0x0800
#define TASK_RTLOCK_WAIT	0x1000
#define TASK_FROZEN		0x8000
#define TASK_KILLABLE		(TASK_WAKEKILL | TASK_UNINTERRUPTIBLE)
#define TASK_IDLE		(TASK_UNINTERRUPTIBLE | TASK_NOLOAD)
#define PF_KTHREAD		0x00200000

#define THREAD_SIZE		16384ul

/**
 * struct shim_frame - a frame as the unwinder sees it
 * @ra: the return address
 * @slot: where that lies
 * @entry: it was entered by an exception
 * @guess: the unwinder is not sure, from here on
 */
struct shim_frame {
	unsigned long ra;
	unsigned long *slot;
	bool entry;
	bool guess;
	unsigned long *bp;	/* of a function that uses the frame pointer (orc) */
};

/* What return probes have hidden on a task's stack, the latest first. */
struct llist_node {
	struct llist_node *next;
};

struct llist_head {
	struct llist_node *first;
};

struct rethook_node {
	struct llist_node llist;
	unsigned long ret_addr;
	unsigned long frame;
};

/* With what the unwinder will say of its stack: @frame, @nframes. */
struct task_struct {
	union {
		unsigned int __state;	/* 5.14 on */
		unsigned int state;
	};
	int on_rq;
	int on_cpu;
	unsigned int flags;
	pid_t pid;
	unsigned in_iowait:1;
	unsigned sched_contributes_to_load:1;
	struct {
		unsigned char sched_delayed;
	} se;
	struct {
		unsigned long long run_delay;
		unsigned long long last_queued;
	} sched_info;
	raw_spinlock_t pi_lock;
#ifdef CONFIG_KRETPROBE_ON_RETHOOK
	struct llist_head rethooks;
#endif
	struct task_struct *shim_next;
	const struct shim_frame *frame;
	int nframes;
	void *shim_stack;
	unsigned long shim_fp;
};

static __thread struct task_struct *shim_current __maybe_unused;
static struct task_struct *shim_tasks __maybe_unused;	/* all, by shim_next */

#define current			shim_current
#define for_each_process_thread(p, t) \
	for ((p) = (t) = shim_tasks; (p) && (t); (p) = (t) = (t)->shim_next)

/* What a probe takes for the frame that it runs in. */
static __thread unsigned long *volatile shim_frame_address __maybe_unused;
#define __builtin_frame_address(n) ((void *)shim_frame_address)

struct pt_regs {
	unsigned long ip;
	unsigned long sp;
	unsigned long di, si, dx, cx;
	unsigned long ax;
	unsigned long regs[31];	/* arm64 */
};

#ifdef CONFIG_ARM64
/* Bit 55 says which half an address is in, those around it are the signature. */
#define ptrauth_strip_kernel_insn_pac(a) \
	((a) >> 55 & 1 ? (a) | ~0ul << 48 : (a) & ~(~0ul << 48))
#define thread_saved_fp(t)	((t)->shim_fp)
#define task_stack_page(t)	((t)->shim_stack)

/* What the kernel's unwinder says of the running task. */
static const unsigned long *shim_trace __maybe_unused;
static unsigned int shim_ntrace __maybe_unused;
static unsigned int shim_traces __maybe_unused;

static inline unsigned int stack_trace_save(unsigned long *store,
					    unsigned int size,
					    unsigned int skip)
{
	unsigned int n = min(size, shim_ntrace);

	shim_traces++;
	memcpy(store, shim_trace, n * sizeof(*store));
	return n;
}
#else

/* Where code lies on x86-64, that of the world too. */
#define __START_KERNEL_map	0xffffffff80000000ul

#define kernel_stack_pointer(regs)	((regs)->sp)
#define regs_return_value(regs)		((regs)->ax)
#define instruction_pointer(regs)	((regs)->ip)
#define instruction_pointer_set(regs, v) ((regs)->ip = (v))

/* The unwinder. */
struct unwind_state {
	struct task_struct *task;
	int at;
	bool error;
	struct pt_regs *regs;
	unsigned long sp;	/* orc */
	unsigned long *bp;	/* frame pointer */
};

/* Frames by which it begins too early, or too late if that is negative. */
static int shim_unwind_early __maybe_unused;
/* The address of the function that the last unwinding from registers began in. */
static __thread unsigned long shim_unwind_ip __maybe_unused;
static __thread unsigned long shim_unwinds __maybe_unused;
/* Something that the unwinder calls. */
static void (*shim_on_unwind)(void) __maybe_unused;
static struct pt_regs shim_entry_regs __maybe_unused;

static inline bool unwind_done(struct unwind_state *st)
{
	return st->at >= st->task->nframes;
}

static inline void shim_unwind_look(struct unwind_state *st)
{
	const struct shim_frame *f = &st->task->frame[st->at];

	st->sp = 0;
	st->bp = NULL;
	st->regs = NULL;
	if (unwind_done(st))
		return;
	st->error |= f->guess;
	if (f->entry)
		st->regs = &shim_entry_regs;
	if (f->slot) {
		st->sp = (unsigned long)(f->slot + 1);
		st->bp = f->bp;
	}
}

static inline void __unwind_start(struct unwind_state *st,
				  struct task_struct *t, struct pt_regs *regs,
				  unsigned long *first)
{
	memset(st, 0, sizeof(*st));
	st->task = t;
	shim_unwinds++;
	if (shim_on_unwind)
		shim_on_unwind();
	if (regs) {
		shim_unwind_ip = regs->ip;
		first = (unsigned long *)regs->sp;
	}
	while (!unwind_done(st) && t->frame[st->at].slot < first)
		st->at++;
	if (!regs)
		st->at = max(st->at - shim_unwind_early, 0);
	shim_unwind_look(st);
}

#define unwind_start(st, t, regs, first) __unwind_start(st, t, regs, first)

static inline bool unwind_next_frame(struct unwind_state *st)
{
	if (unwind_done(st))
		return false;
	st->at++;
	shim_unwind_look(st);
	return !unwind_done(st);
}

static inline unsigned long unwind_get_return_address(struct unwind_state *st)
{
	return unwind_done(st) ? 0 : st->task->frame[st->at].ra;
}

static inline bool unwind_error(struct unwind_state *st)
{
	return st->error;
}
#endif /* !CONFIG_ARM64 */

/* Modules. */
#define MODULE_STATE_LIVE	0
#define MODULE_STATE_COMING	1
#define MODULE_STATE_GOING	2
#define NOTIFY_DONE		0

struct module {
	unsigned long core, core_size;
	unsigned long init, init_size;
};

static inline bool within_module_init(unsigned long addr, struct module *mod)
{
	return addr - mod->init < mod->init_size;
}

static inline bool within_module(unsigned long addr, struct module *mod)
{
	return addr - mod->core < mod->core_size ||
	       within_module_init(addr, mod);
}

struct notifier_block {
	int (*notifier_call)(struct notifier_block *nb, unsigned long event,
			     void *data);
	struct notifier_block *next;
	int priority;
};

/* All, the first to be called first. */
static struct notifier_block *shim_notifier __maybe_unused;
static int shim_notifier_err __maybe_unused;
/* How many succeed before that. */
static int shim_notifiers_left __maybe_unused;

static inline int register_module_notifier(struct notifier_block *nb)
{
	struct notifier_block **p = &shim_notifier;

	if (shim_notifier_err && !shim_notifiers_left)
		return shim_notifier_err;
	if (shim_notifier_err)
		shim_notifiers_left--;
	for (; *p && (*p)->priority >= nb->priority; p = &(*p)->next)
		if (*p == nb)
			abort();
	nb->next = *p;
	*p = nb;
	return 0;
}

static inline int unregister_module_notifier(struct notifier_block *nb)
{
	struct notifier_block **p = &shim_notifier;

	for (; *p != nb; p = &(*p)->next)
		if (!*p)
			abort();
	*p = nb->next;
	return 0;
}

static inline void shim_notify(unsigned long event, struct module *mod)
{
	struct notifier_block *nb;

	for (nb = shim_notifier; nb; nb = nb->next)
		nb->notifier_call(nb, event, mod);
}

#define module_param(name, type, perm)	SHIM_NOTHING
#define MODULE_PARM_DESC(name, text)	SHIM_NOTHING
#define module_init(f)			SHIM_NOTHING
#define module_exit(f)			SHIM_NOTHING
#define MODULE_LICENSE(text)		SHIM_NOTHING
#define MODULE_AUTHOR(text)		SHIM_NOTHING
#define MODULE_DESCRIPTION(text)	SHIM_NOTHING
#define MODULE_VERSION(text)		SHIM_NOTHING

#endif /* _SHIM_KERNEL_H */
