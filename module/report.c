// SPDX-License-Identifier: GPL-2.0
/* REPORT: /proc/waitprof. See report.h for its form. */

#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/user_namespace.h>
#include <linux/utsname.h>
#include "control.h"
#include "path.h"
#include "record.h"
#include "report.h"
#include "site.h"
#include "slot.h"
#include "snapshot.h"
#include "tracker.h"

static struct proc_dir_entry *waitprof_proc;

static u64 waitprof_jiffies(u64 ns)
{
	u32 rest;
	u64 sec = div_u64_rem(ns, NSEC_PER_SEC, &rest);

	/* ns * HZ would not fit after 2 years of waiting, all tasks together */
	return sec * HZ + div_u64((u64)rest * HZ, NSEC_PER_SEC);
}

static void waitprof_show_head(struct seq_file *m,
			       const struct waitprof_snapshot *snap)
{
	static const char * const hooks[] = { "kprobe", "switch" };
	const struct waitprof_window *w = &snap->window;
	const struct waitprof_lost *l = &snap->lost;
	const struct waitprof_meminfo *mi = &snap->memory;
	u32 rest;
	u64 sec = div_u64_rem(w->realtime, NSEC_PER_SEC, &rest);

	seq_printf(m, "# %s %d version=%s kernel=%s hz=%d cpus=%u state=%s hook=%s",
		   WAITPROF_NAME, WAITPROF_FORMAT, WAITPROF_VERSION,
		   init_utsname()->release, HZ, snap->cpus,
		   w->on ? "on" : "off", hooks[snap->probe.hook]);
	if (snap->probe.why)
		seq_printf(m, " hook_asked=%s hook_why=%s",
			   hooks[snap->probe.asked], snap->probe.why);
	if (snap->probe.hook == WAITPROF_HOOK_KPROBE)
		seq_printf(m, " entry=%s",
			   snap->probe.ftrace ? "ftrace" : "kprobe");
	seq_printf(m, " live=%s",
		   waitprof_object_mapped() ? "map" : "count");
	seq_printf(m, " poll=%s", !snap->poll.on ? "off" :
				  snap->poll.reached ? "on" : "not-reached");
	if (snap->poll.err)
		seq_printf(m, " poll_error=%d", -snap->poll.err);
	seq_printf(m, " resets=%u realtime=%llu.%09u window_ns=%llu window_jiffies=%llu clock=%s\n",
		   w->resets, sec, rest, w->ns, waitprof_jiffies(w->ns),
		   waitprof_clock_is_sched() ? "sched" : "monotonic");
	seq_printf(m, "# memory total_kb=%lu free_kb=%lu available_kb=%lu low_free_kb=%lu buffers_kb=%lu cached_kb=%lu slab_kb=%lu slab_reclaimable_kb=%lu\n",
		   mi->total, mi->free, mi->available, mi->low_free,
		   mi->buffers, mi->cached, mi->slab, mi->slab_reclaimable);
	seq_printf(m, "# lost no_slot=%llu other=%llu late=%llu clock_steps=%llu racing=%llu cut=%llu cut_ns=%llu kprobe_missed=%llu object_overflow=%llu object_cut=%llu poll_early=%llu poll_missed=%llu\n",
		   l->no_slot, l->other, l->late, l->clock_steps, l->racing,
		   w->cut, w->cut_ns, w->missed, l->object_overflow,
		   l->object_cut, w->poll_early, w->poll_missed);
	seq_printf(m, "# tables rows=%u rows_used=%u slots=%u memory_kb=%llu memo_misses=%llu memo_full=%llu unwind_failed=%llu checked=%llu mismatches=%llu\n",
		   waitprof_rows_end() - WAITPROF_ROWS_FIXED, snap->rows_used,
		   waitprof_slot_count(),
		   (waitprof_table_bytes() + sizeof(waitprof_memo) +
		    waitprof_slot_bytes() + waitprof_path_bytes() +
		    waitprof_object_bytes()) >> 10,
		   snap->memo.misses, snap->memo.full, snap->memo.failed,
		   snap->memo.checked, snap->memo.wrong);
	seq_puts(m, "# waits\t-\t-\tjiffies\tsite\tclass\ttasks\twaits\ttotal_ns\trunq_ns\tmax_ns\tin_flight\tin_flight_ns\toldest_ns\toldest_pid\thist\n");
}

static void waitprof_show_hist(struct seq_file *m,
			       const struct waitprof_sum *sum)
{
	const char *sep = "";
	int i;

	if (!sum->waits)
		seq_putc(m, '-');
	for (i = 0; i < WAITPROF_BUCKETS; i++) {
		if (!sum->hist[i])
			continue;
		seq_printf(m, "%s%d:%llu", sep, i, sum->hist[i]);
		sep = ",";
	}
	seq_putc(m, '\n');
}

static void waitprof_show_sum(struct seq_file *m,
			      const struct waitprof_snapshot *snap,
			      const struct waitprof_sum *sum)
{
	static const char classes[WAITPROF_CLASSES + 1] = "SDITtPLF";
	bool row = sum != &snap->sums[WAITPROF_ROW_OTHER];

	seq_printf(m, "%0*lx HERE\t\t\t%llu\t%s\t", (int)(2 * sizeof(long)),
		   snap->show_addr ? sum->addr : 0,
		   waitprof_jiffies(sum->total_ns), sum->name);
	if (row)
		seq_printf(m, "%c%s\t%s\t",
			   classes[waitprof_kind_class(sum->kind)],
			   sum->kind & WAITPROF_KIND_IO ? "io" : "",
			   sum->kind & WAITPROF_KIND_KERNEL ? "kernel" : "user");
	else
		seq_puts(m, "-\t-\t");
	seq_printf(m, "%llu\t%llu\t", sum->waits, sum->total_ns);
	if (IS_ENABLED(CONFIG_SCHED_INFO))
		seq_printf(m, "%llu\t", sum->runq_ns);
	else
		seq_puts(m, "n/a\t");
	seq_printf(m, "%llu\t%llu\t%llu\t%llu\t%d\t", sum->max_ns,
		   sum->in_flight, sum->in_flight_ns, sum->oldest_ns,
		   sum->oldest_pid);
	waitprof_show_hist(m, sum);
}

/* A number that cannot be had reads n/a, never 0. */
static void waitprof_show_count(struct seq_file *m, bool known, s64 n)
{
	if (known)
		seq_printf(m, "%lld\t", n);
	else
		seq_puts(m, "n/a\t");
}

static void waitprof_show_objects(struct seq_file *m,
				  const struct waitprof_snapshot *snap)
{
	u32 i;

	seq_puts(m, "# objects\tallocs\tfrees\tlive\tpeak\tfailed\tolder_frees\tmissed\tunit_bytes\tnote\n");
	for (i = 0; i < WAITPROF_TRACKERS; i++) {
		const struct waitprof_tracker_sum *o = &snap->objects[i];

		bool paired = o->counted && o->paired;
		bool mapped = paired && waitprof_object_mapped();

		if (!o->used)
			continue;
		seq_printf(m, "%s\t", o->name);
		waitprof_show_count(m, o->counted, o->counts.allocs);
		waitprof_show_count(m, paired, o->counts.frees);
		waitprof_show_count(m, paired, waitprof_counts_live(&o->counts));
		waitprof_show_count(m, paired, o->peak);
		waitprof_show_count(m, mapped, o->counts.failed);
		waitprof_show_count(m, mapped, o->counts.older_frees);
		waitprof_show_count(m, o->counted, o->missed);
		waitprof_show_count(m, o->counted && o->unit, o->unit);
		seq_printf(m, "%s%s\n", o->note,
			   o->reached ? "" : "; not reached: ftrace or kprobes are switched off");
	}
}

static const struct waitprof_tracker_sum *
waitprof_object_of(const struct waitprof_snapshot *snap, u32 serial)
{
	u32 i;

	for (i = 0; i < WAITPROF_TRACKERS; i++)
		if (snap->objects[i].used && snap->objects[i].serial == serial)
			return &snap->objects[i];
	return NULL;
}

static void waitprof_show_path(struct seq_file *m,
			       const struct waitprof_snapshot *snap,
			       const struct waitprof_path_sum *p)
{
	u32 sites[WAITPROF_DEPTH_MAX], tracker, depth, i;
	const struct waitprof_tracker_sum *o;
	char name[WAITPROF_NAME_LEN];

	if (!waitprof_path_key(p->path, &tracker, sites, &depth))
		return;
	o = waitprof_object_of(snap, tracker);
	if (!o)			/* untracked since */
		return;
	seq_printf(m, "caller\t%s\t%llu\t", o->name, p->count);
	waitprof_show_count(m, o->paired && waitprof_object_mapped(), p->live);
	/* Innermost first, which stands last. */
	for (i = depth; i--;) {
		waitprof_site_name(sites[i], name, sizeof(name));
		seq_printf(m, "%s%s", name, i ? "<" : "\n");
	}
}

static void waitprof_show_callers(struct seq_file *m,
				  const struct waitprof_snapshot *snap)
{
	u32 i;

	seq_puts(m, "# callers\tobject\tcount\tlive\tpath\n");
	for (i = 0; i < WAITPROF_TRACKERS; i++)
		if (snap->objects[i].used && snap->objects[i].counts.other)
			seq_printf(m, "caller\t%s\t%llu\tn/a\t(other)\n",
				   snap->objects[i].name,
				   snap->objects[i].counts.other);
}

/* Positions: the head, the rows, the objects, the callers' head, the callers. */
static void *waitprof_seq_start(struct seq_file *m, loff_t *pos)
{
	struct waitprof_snapshot *snap = m->private;

	if (!snap || *pos < 0 || *pos >= 3 + snap->nsorted + snap->npaths)
		return NULL;
	return pos;
}

static void *waitprof_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return waitprof_seq_start(m, pos);
}

static void waitprof_seq_stop(struct seq_file *m, void *v)
{
}

static int waitprof_seq_show(struct seq_file *m, void *v)
{
	const struct waitprof_snapshot *snap = m->private;
	loff_t pos = *(loff_t *)v;

	if (!pos)
		waitprof_show_head(m, snap);
	else if (pos <= snap->nsorted)
		waitprof_show_sum(m, snap, snap->sorted[pos - 1]);
	else if (pos == snap->nsorted + 1)
		waitprof_show_objects(m, snap);
	else if (pos == snap->nsorted + 2)
		waitprof_show_callers(m, snap);
	else
		waitprof_show_path(m, snap, &snap->paths[pos - snap->nsorted - 3]);
	return 0;
}

static const struct seq_operations waitprof_seq_ops = {
	.start = waitprof_seq_start,
	.next = waitprof_seq_next,
	.stop = waitprof_seq_stop,
	.show = waitprof_seq_show,
};

/* May who opened the file see kernel addresses? What kptr_restrict and the
 * capability come to is not exported, so ask %pK about an address of ours.
 */
static bool waitprof_show_addr(struct file *file)
{
	char text[2 * sizeof(long) + 1];

	if (!file_ns_capable(file, &init_user_ns, CAP_SYSLOG))
		return false;
	snprintf(text, sizeof(text), "%pK", &waitprof_proc);
	return strspn(text, "0") != strlen(text);
}

static int waitprof_open(struct inode *inode, struct file *file)
{
	struct waitprof_snapshot *snap = NULL;
	int err;

	/* User 0 of a container owns the file too. */
	if ((file->f_mode & FMODE_READ) && !perfmon_capable())
		return -EPERM;
	if ((file->f_mode & FMODE_WRITE) && !capable(CAP_SYS_ADMIN))
		return -EPERM;

	if (file->f_mode & FMODE_READ) {
		snap = waitprof_snapshot_alloc();
		if (!snap)
			return -ENOMEM;
		snap->show_addr = waitprof_show_addr(file);
		err = waitprof_control_read(snap);
		if (err)
			goto out_free;
	}
	err = seq_open(file, &waitprof_seq_ops);
	if (err)
		goto out_free;
	((struct seq_file *)file->private_data)->private = snap;
	return 0;

out_free:
	waitprof_snapshot_free(snap);
	return err;
}

static int waitprof_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	waitprof_snapshot_free(m->private);
	return seq_release(inode, file);
}

/* A reset on a descriptor that is also for reading leaves there, from its
 * beginning, the window that it closed.
 */
static ssize_t waitprof_write(struct file *file, const char __user *buf,
			      size_t count, loff_t *ppos)
{
	struct seq_file *m = file->private_data;
	struct waitprof_snapshot *snap = NULL;
	char cmd[WAITPROF_COMMAND_MAX + 1];
	int ret;

	if (!count || count > WAITPROF_COMMAND_MAX)
		return -EINVAL;
	if (copy_from_user(cmd, buf, count))
		return -EFAULT;
	if (file->f_mode & FMODE_READ && waitprof_control_resets(cmd, count)) {
		snap = waitprof_snapshot_alloc();
		if (!snap)
			return -ENOMEM;
		snap->show_addr = waitprof_show_addr(file);
	}
	ret = waitprof_control_command(cmd, count, snap);
	if (ret > 0) {
		mutex_lock(&m->lock);
		swap(snap, *(struct waitprof_snapshot **)&m->private);
		/* What seq_file has buffered is of the old one. */
		m->count = 0;
		m->index = 0;
		m->read_pos = 0;
		mutex_unlock(&m->lock);
		*ppos = 0;
	}
	waitprof_snapshot_free(snap);
	return ret < 0 ? ret : count;
}

static const struct proc_ops waitprof_proc_ops = {
	.proc_open = waitprof_open,
	.proc_read_iter = seq_read_iter,
	.proc_write = waitprof_write,
	.proc_lseek = seq_lseek,
	.proc_release = waitprof_release,
};

/**
 * waitprof_report_init() - make /proc/waitprof
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
int waitprof_report_init(void)
{
	waitprof_proc = proc_create(WAITPROF_NAME, 0600, NULL,
				    &waitprof_proc_ops);
	return waitprof_proc ? 0 : -ENOMEM;
}

/**
 * waitprof_report_exit() - remove it
 *
 * An open descriptor does not hold the module; this waits for calls that run
 * and releases the files that are open.
 *
 * Context: process, may sleep.
 */
void waitprof_report_exit(void)
{
	proc_remove(waitprof_proc);
}
