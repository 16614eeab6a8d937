// SPDX-License-Identifier: GPL-2.0
/*
 * The wait primitives: functions whose only business is to wait for their
 * caller. They are skipped when a call site is looked for.
 *
 * By name, since names are there in modules and in .cold parts alike, and no
 * unexported address is needed. Where a function is found to wait for many
 * callers, its name belongs here; where its name is the reason for the wait
 * (jbd2_log_wait_commit, unix_wait_for_peer), it does not.
 */

#include <linux/bsearch.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include "primitives.h"

/* Sorted as strcmp() sorts. */
static const char * const waitprof_primitives[] = {
	"___down_common",
	"__cancel_work_sync",
	"__cancel_work_timer",
	"__down",
	"__down_common",
	"__down_interruptible",
	"__down_killable",
	"__down_read",
	"__down_read_common",
	"__down_timeout",
	"__down_write",
	"__down_write_common",
	"__filemap_fdatawait_range",
	"__flush_work",
	"__flush_workqueue",
	"__folio_lock",
	"__folio_lock_async",
	"__folio_lock_killable",
	"__folio_lock_or_retry",
	"__kthread_parkme",
	"__local_bh_disable_ip",
	"__lock_buffer",
	"__lock_page",
	"__lock_page_killable",
	"__lock_page_or_retry",
	"__lock_sock",
	"__lock_sock_fast",
	"__lock_task_sighand",
	"__mutex_lock",
	"__mutex_lock_common",
	"__mutex_lock_interruptible_slowpath",
	"__mutex_lock_killable_slowpath",
	"__mutex_lock_slowpath",
	"__percpu_down_read",
	"__pte_offset_map_lock",
	"__rt_mutex_lock",
	"__rt_mutex_slowlock",
	"__rt_mutex_slowlock_locked",
	"__rt_mutex_slowlock_timeout",
	"__rt_spin_lock",
	"__rwbase_read_lock",
	"__schedule",
	"__schedule_loop",
	"__skb_wait_for_more_packets",
	"__stop_cpus",
	"__synchronize_irq",
	"__synchronize_srcu",
	"__timer_delete_sync",
	"__traceiter_sched_switch",
	"__vma_start_exclude_readers",
	"__vma_start_write",
	"__wait_for_common",
	"__wait_on_bit",
	"__wait_on_bit_lock",
	"__wait_on_buffer",
	"__wait_rcu_gp",
	"__ww_mutex_lock",
	"__ww_mutex_lock_interruptible_slowpath",
	"__ww_mutex_lock_slowpath",
	"__ww_rt_mutex_lock",
	"_atomic_dec_and_lock",
	"_atomic_dec_and_lock_irqsave",
	"_down_write_nest_lock",
	"_mutex_lock_nest_lock",
	"_rt_mutex_lock_nest_lock",
	"affine_move_task",
	"alarmtimer_do_nsleep",
	"atomic_dec_and_mutex_lock",
	"bio_await",
	"bit_wait",
	"bit_wait_io",
	"bit_wait_io_timeout",
	"bit_wait_timeout",
	"blk_io_schedule",
	"blk_mq_freeze_queue_wait",
	"blk_mq_freeze_queue_wait_timeout",
	"blk_wait_io",
	"cancel_delayed_work_sync",
	"cancel_work_sync",
	"common_nsleep",
	"common_nsleep_timens",
	"cpuhp_wait_for_sync_state",
	"cpus_read_lock",
	"del_timer_sync",
	"disable_irq",
	"do_nanosleep",
	"do_wait_for_common",
	"do_wait_intr",
	"do_wait_intr_irq",
	"down",
	"down_interruptible",
	"down_killable",
	"down_read",
	"down_read_failed",
	"down_read_interruptible",
	"down_read_killable",
	"down_read_killable_nested",
	"down_read_nested",
	"down_read_non_owner",
	"down_timeout",
	"down_write",
	"down_write_failed",
	"down_write_killable",
	"down_write_killable_nested",
	"down_write_nested",
	"drain_workqueue",
	"exp_funnel_lock",
	"file_fdatawait_range",
	"filemap_fdatawait_keep_errors",
	"filemap_fdatawait_range",
	"filemap_fdatawait_range_keep_errors",
	"flush_delayed_work",
	"flush_rcu_work",
	"flush_work",
	"flush_workqueue",
	"folio_lruvec_lock",
	"folio_lruvec_lock_irq",
	"folio_lruvec_lock_irqsave",
	"folio_put_wait_locked",
	"folio_wait_bit",
	"folio_wait_bit_common",
	"folio_wait_bit_killable",
	"folio_wait_private_2",
	"folio_wait_private_2_killable",
	"folio_wait_stable",
	"folio_wait_writeback",
	"folio_wait_writeback_killable",
	"fsleep",
	"futex_do_wait",
	"futex_wait_queue",
	"futex_wait_queue_me",
	"hrtimer_cancel",
	"hrtimer_cancel_wait_running",
	"hrtimer_nanosleep",
	"io_schedule",
	"io_schedule_timeout",
	"kthread_parkme",
	"ldsem_down_read",
	"ldsem_down_read_nested",
	"ldsem_down_write",
	"ldsem_down_write_nested",
	"lock_sock_fast",
	"lock_sock_nested",
	"migration_entry_wait_on_locked",
	"msleep",
	"msleep_interruptible",
	"mutex_lock",
	"mutex_lock_interruptible",
	"mutex_lock_interruptible_nested",
	"mutex_lock_io",
	"mutex_lock_io_nested",
	"mutex_lock_killable",
	"mutex_lock_killable_nested",
	"mutex_lock_nested",
	"mutex_lock_slowpath",
	"out_of_line_wait_on_bit",
	"out_of_line_wait_on_bit_lock",
	"out_of_line_wait_on_bit_timeout",
	"percpu_down_read",
	"percpu_down_write",
	"percpu_rwsem_wait",
	"pipe_wait_readable",
	"pipe_wait_writable",
	"poll_schedule_timeout",
	"prepare_to_swait_event",
	"prepare_to_swait_exclusive",
	"prepare_to_wait",
	"prepare_to_wait_event",
	"prepare_to_wait_exclusive",
	"put_and_wait_on_page_locked",
	"rcu_barrier",
	"rcu_barrier_tasks",
	"rcu_barrier_tasks_trace",
	"rcu_sync_enter",
	"refcount_dec_and_lock",
	"refcount_dec_and_lock_irqsave",
	"refcount_dec_and_mutex_lock",
	"rt_mutex_lock",
	"rt_mutex_lock_interruptible",
	"rt_mutex_lock_killable",
	"rt_mutex_lock_nested",
	"rt_mutex_schedule",
	"rt_mutex_slowlock",
	"rt_mutex_slowlock_block",
	"rt_mutex_slowlock_locked",
	"rt_mutex_wait_proxy_lock",
	"rt_read_lock",
	"rt_spin_lock",
	"rt_spin_lock_nest_lock",
	"rt_spin_lock_nested",
	"rt_spin_lock_unlock",
	"rt_write_lock",
	"rt_write_lock_nested",
	"rtlock_slowlock",
	"rtlock_slowlock_locked",
	"rwbase_read_lock",
	"rwbase_write_lock",
	"rwsem_down_read_slowpath",
	"rwsem_down_write_slowpath",
	"schedule",
	"schedule_hrtimeout",
	"schedule_hrtimeout_range",
	"schedule_hrtimeout_range_clock",
	"schedule_preempt_disabled",
	"schedule_rtlock",
	"schedule_timeout",
	"schedule_timeout_idle",
	"schedule_timeout_interruptible",
	"schedule_timeout_killable",
	"schedule_timeout_uninterruptible",
	"sk_stream_wait_close",
	"sk_stream_wait_connect",
	"sk_stream_wait_memory",
	"sk_wait_data",
	"softleaf_entry_wait_on_locked",
	"srcu_barrier",
	"submit_bio_wait",
	"synchronize_irq",
	"synchronize_rcu",
	"synchronize_rcu_expedited",
	"synchronize_rcu_expedited_wait",
	"synchronize_rcu_expedited_wait_once",
	"synchronize_rcu_normal",
	"synchronize_rcu_tasks",
	"synchronize_rcu_tasks_generic",
	"synchronize_rcu_tasks_rude",
	"synchronize_rcu_tasks_trace",
	"synchronize_srcu",
	"synchronize_srcu_expedited",
	"timer_delete_sync",
	"timer_shutdown_sync",
	"usleep_range",
	"usleep_range_state",
	"wait_for_common",
	"wait_for_common_io",
	"wait_for_completion",
	"wait_for_completion_interruptible",
	"wait_for_completion_interruptible_timeout",
	"wait_for_completion_io",
	"wait_for_completion_io_timeout",
	"wait_for_completion_killable",
	"wait_for_completion_killable_timeout",
	"wait_for_completion_state",
	"wait_for_completion_timeout",
	"wait_for_stable_page",
	"wait_on_page_bit",
	"wait_on_page_bit_common",
	"wait_on_page_bit_killable",
	"wait_on_page_writeback",
	"wait_woken",
	"wq_sleep",
	"ww_mutex_lock",
	"ww_mutex_lock_interruptible",
};

/* What skip= adds. */
static struct {
	const char *name;	/* not terminated */
	size_t len;
} waitprof_skip[WAITPROF_SKIP_MAX];
static unsigned int waitprof_skips;

static int waitprof_primitive_cmp(const void *key, const void *elt)
{
	return strcmp(key, *(const char * const *)elt);
}

/**
 * waitprof_primitive() - does a function only wait for its caller?
 * @symbol: its name as sprint_symbol_no_offset() gives it; cut in place to
 *	what the source calls it, without .isra.0 and the name of its module
 *
 * Context: any; takes no lock.
 */
bool waitprof_primitive(char *symbol)
{
	size_t len = strcspn(symbol, ". ");
	unsigned int i;

	symbol[len] = '\0';
	for (i = 0; i < waitprof_skips; i++)
		if (len == waitprof_skip[i].len &&
		    !memcmp(symbol, waitprof_skip[i].name, len))
			return true;
	return bsearch(symbol, waitprof_primitives,
		       ARRAY_SIZE(waitprof_primitives),
		       sizeof(*waitprof_primitives), waitprof_primitive_cmp);
}

/**
 * waitprof_polls() - does a function wait for files, for poll or select?
 * @symbol: its name; what follows it does not matter
 *
 * Of all that have a poll_wqueues these two sleep with it; do_poll() is a part
 * of do_sys_poll() where it is inlined.
 *
 * Context: any; takes no lock.
 */
bool waitprof_polls(const char *symbol)
{
	static const char * const names[] = {
		"do_poll", "do_select", "do_sys_poll",
	};
	size_t len = strcspn(symbol, ".+ ");
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strncmp(symbol, names[i], len) && !names[i][len])
			return true;
	return false;
}

/**
 * waitprof_primitive_skip() - take more names for primitives
 * @names: separated by commas; used from then on
 *
 * Context: process, before any probe runs.
 * Return: whether they are not too many.
 */
bool waitprof_primitive_skip(const char *names)
{
	size_t len;

	for (; *names; names += len + (names[len] == ',')) {
		len = strcspn(names, ",");
		if (!len)
			continue;
		if (waitprof_skips == WAITPROF_SKIP_MAX)
			return false;
		waitprof_skip[waitprof_skips].name = names;
		waitprof_skip[waitprof_skips++].len = len;
	}
	return true;
}
