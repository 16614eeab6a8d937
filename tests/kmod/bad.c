// SPDX-License-Identifier: GPL-2.0
/*
 * Does what a debug kernel is there to see, so that a test knows that it sees:
 * the parameter do= says what. "leak" leaves an object behind that nothing
 * points to; "use" reads one that was freed; "sleep" sleeps in an atomic section;
 * "locks" takes two locks in both orders; "irqs" takes one with interrupts off
 * that lockdep believes to be on. Never loads.
 */
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

static char *what = "";
module_param_named(do, what, charp, 0444);

static DEFINE_MUTEX(wp_bad_a);
static DEFINE_MUTEX(wp_bad_b);
static DEFINE_RAW_SPINLOCK(wp_bad_spin);

static void wp_bad_both(struct mutex *first, struct mutex *second)
{
	mutex_lock(first);
	mutex_lock(second);
	mutex_unlock(second);
	mutex_unlock(first);
}

static noinline void wp_bad_leak(void)
{
	/* Hidden, or the compiler leaves it out. */
	void *p = kmalloc(1111, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(p);
}

static noinline void wp_bad_use(void)
{
	char *p = kmalloc(100, GFP_KERNEL);

	kfree(p);
	OPTIMIZER_HIDE_VAR(p);
	if (p)
		READ_ONCE(p[10]);
}

static noinline void wp_bad_irqs(void)
{
	unsigned long flags;

	raw_local_irq_save(flags);
	raw_spin_lock(&wp_bad_spin);
	raw_spin_unlock(&wp_bad_spin);
	raw_local_irq_restore(flags);
}

static int __init wp_bad_init(void)
{
	if (!strcmp(what, "leak")) {
		wp_bad_leak();
	} else if (!strcmp(what, "use")) {
		wp_bad_use();
	} else if (!strcmp(what, "sleep")) {
		preempt_disable();
		might_sleep();
		preempt_enable();
	} else if (!strcmp(what, "locks")) {
		wp_bad_both(&wp_bad_a, &wp_bad_b);
		wp_bad_both(&wp_bad_b, &wp_bad_a);
	} else if (!strcmp(what, "irqs")) {
		wp_bad_irqs();
	}
	return -ENODEV;
}

module_init(wp_bad_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("waitprof test fixture: what a debug kernel must see");
