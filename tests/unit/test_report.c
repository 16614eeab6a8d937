// SPDX-License-Identifier: GPL-2.0
/* /proc/waitprof: who may open it, what it prints, what can be written. */

#include "machine.h"
#include "control.c"
#include "report.c"

static struct sleeper a, b;

static void load_rows(unsigned int rows)
{
	machine_load(rows);
	memset(&waitprof_control, 0, sizeof(waitprof_control));
	memset(&machine_probe, 0, sizeof(machine_probe));
	sleeper_init(&a, 417);
	sleeper_init(&b, 418);
	sleeper_at(&a, PIPE_READ);
	sleeper_at(&b, MOD_WAIT);
	shim_clock = 1000;
	shim_real = 1000;
	shim_capable = shim_perfmon = shim_syslog = true;
	shim_hidden = "ffffffff81234567";
	if (waitprof_control_start(WAITPROF_HOOK_KPROBE, false) ||
	    waitprof_report_init())
		abort();
}

static void load(void)
{
	load_rows(32);
}

static void unload(void)
{
	waitprof_report_exit();
	waitprof_control_stop();
	machine_unload();
}

static int open_file(struct file *f, unsigned int mode)
{
	memset(f, 0, sizeof(*f));
	f->f_mode = mode;
	return shim_proc_entry.ops->proc_open(NULL, f);
}

static void close_file(struct file *f)
{
	shim_proc_entry.ops->proc_release(NULL, f);
}

/* As seq_file reads: all from position 0. */
static const char *print(struct file *f)
{
	struct seq_file *m = f->private_data;
	loff_t pos = 0;
	void *v;

	m->len = 0;
	for (v = m->op->start(m, &pos); v; v = m->op->next(m, v, &pos))
		m->op->show(m, v);
	m->op->stop(m, v);
	return m->text;
}

static ssize_t write_file(struct file *f, const char *text, size_t len)
{
	loff_t pos = 77;
	ssize_t ret = shim_proc_entry.ops->proc_write(f, text, len, &pos);
	struct seq_file *m = f->private_data;

	if (m->lock.locked || waitprof_control.lock.locked)
		abort();
	return ret;
}

/* The line that has it, or begins with what follows a newline. */
static const char *line(const char *text, const char *with)
{
	static char copy[2048];
	const char *p = strstr(text, with), *start;
	size_t len;

	if (p)
		p += *with == '\n';

	if (!p)
		return "(none)";
	for (start = p; start > text && start[-1] != '\n'; start--)
		;
	len = strcspn(start, "\n");
	memcpy(copy, start, len);
	copy[len] = '\0';
	return copy;
}

static unsigned int count(const char *text, char c)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += *text == c;
	return n;
}

static void test_jiffies(void)
{
	/* HZ is 250 here: 4 ms. Past 2^63 what matters is that nothing
	 * overflows: floor(ns * HZ / 10^9), computed with more bits.
	 */
	static const u64 ns[] = {
		0, 1, 3999999, 4000000, 4000001, 999999999, 1000000000,
		575260123456, 1ull << 32, (1ull << 63) - 1, 1ull << 63,
		(1ull << 63) + 3999999, 18446744073709551615ull,
		18446744073709551615ull / 250, 18446744073709551615ull / 250 + 1,
	};
	unsigned int i, state = 3, wrong = 0;

	for (i = 0; i < ARRAY_SIZE(ns); i++)
		is(waitprof_jiffies(ns[i]),
		   (u64)((unsigned __int128)ns[i] * HZ / 1000000000),
		   "%llu ns in jiffies", ns[i]);
	for (i = 0; i < 100000; i++) {
		u64 n = (u64)tap_random(&state) << 40 ^
			(u64)tap_random(&state) << 20 ^ tap_random(&state);

		wrong += waitprof_jiffies(n) !=
			 (u64)((unsigned __int128)n * HZ / 1000000000);
	}
	is(wrong, 0, "and 100000 others");
}

static void test_lines(void)
{
	struct file f;
	const char *text;
	struct waitprof_cell *cell;

	load();
	cell = cell_of(0, row_of(PIPE_READ, WAITPROF_D, WAITPROF_KIND_IO));
	cell->total_ns = 575260123456;
	cell->runq_ns = 81234567;
	cell->max_ns = 912345678;
	cell->hist[9] = 12;
	cell->hist[16] = 5100;
	cell->hist[19] = 8;
	a.t.in_iowait = 1;
	sleep_on(&a, 0, 1000, TASK_UNINTERRUPTIBLE);
	b.t.flags = PF_KTHREAD;
	sleep_on(&b, 1, 2000, TASK_IDLE);
	shim_clock = 2001345;
	is(open_file(&f, FMODE_READ), 0, "opened");
	text = print(&f);
	is_str(line(text, "pipe_read"),
	       "ffffffff81008044 HERE\t\t\t143815\tpipe_read+0x44/0x800\tDio\tuser\t5120\t575260123456\t81234567\t912345678\t1\t2000345\t2000345\t417\t9:12,16:5100,19:8",
	       "a line, as documented");
	is_str(line(text, "mod_wait"),
	       "ffffffffc0000044 HERE\t\t\t0\tmod_wait+0x44/0x800 [wpmod]\tI\tkernel\t0\t0\t0\t0\t1\t1999345\t1999345\t418\t-",
	       "a module's, in flight only");
	is_str(line(text, "(other)"),
	       "0000000000000000 HERE\t\t\t0\t(other)\t-\t-\t0\t0\t0\t0\t0\t0\t0\t0\t-",
	       "(other)");
	is_str(line(text, "# waits"),
	       "# waits\t-\t-\tjiffies\tsite\tclass\ttasks\twaits\ttotal_ns\trunq_ns\tmax_ns\tin_flight\tin_flight_ns\toldest_ns\toldest_pid\thist",
	       "the heading");
	is(count(line(text, "# waits"), '\t'), count(line(text, "pipe_read"), '\t'),
	   "as many columns in the heading as in a line");
	ok(strstr(text, "pipe_read") < strstr(text, "mod_wait"),
	   "the longest first");
	is(count(text, '\n'), 5 + 3 + 5 + 1,
	   "five lines of heading, three rows, objects, no callers");
	ok(!strncmp(text, "# waitprof 1 version=", 21), "how it begins");
	close_file(&f);
	unload();
	a.t.in_iowait = 0;
}

static void test_classes(void)
{
	static const char * const names[] = {
		"S", "D", "I", "T", "t", "P", "L", "F"
	};
	unsigned int class;
	char wanted[32];
	struct file f;

	load();
	for (class = 0; class < WAITPROF_CLASSES; class++)
		cell_of(0, row_of(SITES + class, class,
				  WAITPROF_KIND_KERNEL))->hist[31] = 1;
	open_file(&f, FMODE_READ);
	for (class = 0; class < WAITPROF_CLASSES; class++) {
		sprintf(wanted, "site_%02u+0x44/0x800\t%s\tkernel\t1\t", class,
			names[class]);
		ok(strstr(print(&f), wanted), "class %s", names[class]);
	}
	close_file(&f);
	unload();
}

static void test_head(void)
{
	struct file f;
	const char *text;
	int cpu;

	load();
	for (cpu = 0; cpu < SHIM_CPUS; cpu++) {
		waitprof_cells(cpu, false)->no_slot = 1;
		waitprof_cells(cpu, false)->late = 2;
		waitprof_cells(cpu, false)->clock_steps = 3;
		waitprof_object_cells(cpu, false)->tracker[1].counts =
			(struct waitprof_counts) {
				.allocs = 10, .frees = 1, .overflow = 2, .cut = 3,
			};
	}
	machine_missed = 6;
	per_cpu(waitprof_poll_early, 3) += 7;
	shim_clock = 180000001000ull;
	shim_real = 1700000000000000042ull;
	open_file(&f, FMODE_READ);
	text = print(&f);
	is_str(line(text, "# waitprof"),
	       "# waitprof 1 version=" WAITPROF_VERSION " kernel=6.1.0-test hz=250 cpus=4 state=on hook=kprobe entry=kprobe live=count poll=off resets=0 realtime=1700000000.000000042 window_ns=180000000000 window_jiffies=45000 clock=sched",
	       "the first line");
	is_str(line(text, "# memory"),
	       "# memory total_kb=4000 free_kb=2000 available_kb=2400 low_free_kb=1600 buffers_kb=80 cached_kb=1000 slab_kb=360 slab_reclaimable_kb=160",
	       "memory");
	is_str(line(text, "# lost"),
	       "# lost no_slot=4 other=0 late=8 clock_steps=12 racing=0 cut=0 cut_ns=0 kprobe_missed=6 object_overflow=8 object_cut=12 poll_early=7 poll_missed=0",
	       "losses");
	ok(!strncmp(line(text, "\nbio"), "bio\t40\t4\t16\t16\t", 15),
	   "objects that are not followed are not live");
	ok(strstr(line(text, "# tables"), " rows=32 ") &&
	   strstr(line(text, "# tables"), " slots=64 "), "tables");
	close_file(&f);

	machine_probe.ftrace = true;
	open_file(&f, FMODE_READ);
	ok(strstr(line(print(&f), "# waitprof"),
		  " hook=kprobe entry=ftrace live="), "who probes schedule()");
	close_file(&f);

	machine_missed = 0;
	machine_probe.hook = WAITPROF_HOOK_SWITCH;
	machine_probe.why = "kprobe-refused";
	open_file(&f, FMODE_READ);
	ok(strstr(line(print(&f), "# waitprof"),
		  " hook=switch hook_asked=kprobe hook_why=kprobe-refused live="),
	   "why there is no kprobe; and then nobody");
	close_file(&f);
	waitprof_control_command((char[4]){ "off" }, 3, NULL);
	open_file(&f, FMODE_READ);
	ok(strstr(line(print(&f), "# waitprof"), " state=off "), "off");
	close_file(&f);
	unload();
}

/* An allocation or what takes it back, on a stack that is site_00's. */
static void hit(int func, int caller)
{
	struct pt_regs regs = { .di = 1 };
	unsigned long *slot;

	slot = world_stack(&a.stack, &a.t, 500,
			   CALLS({ caller, 8 }, { SITES + 1, 6 }, { SITES + 2, 4 },
				 { SITES + 3, 4 }));
	shim_current = &a.t;
	regs.sp = (unsigned long)slot;
	shim_hit(world_addr(func), &regs);
}

static void test_objects(void)
{
	static const char heading[] =
		"# objects\tallocs\tfrees\tlive\tpeak\tfailed\tolder_frees\tmissed\tunit_bytes\tnote";
	char cmd[64], wanted[256];
	struct bio bio = { };
	struct file f;
	const char *text, *p;
	unsigned int i;

	load();
	for (i = 0; i < 5; i++)
		hit(ALLOC_BH, SITES + i / 3);
	for (i = 0; i < 3; i++)
		hit(FREE_BH, SITES);
	open_file(&f, FMODE_READ);
	text = print(&f);
	is_str(line(text, "# objects"), heading, "objects: the heading");
	is_str(line(text, "\nbuffer_head") + 0,
	       "buffer_head\t5\t3\t2\t5\tn/a\tn/a\t0\t104\talloc_buffer_head,free_buffer_head",
	       "objects: a line, as documented");
	shim_ftrace_off = true;
	close_file(&f);
	open_file(&f, FMODE_READ);
	text = print(&f);
	is_str(line(text, "\nbuffer_head"),
	       "buffer_head\t5\t3\t2\t5\tn/a\tn/a\t0\t104\talloc_buffer_head,free_buffer_head; not reached: ftrace or kprobes are switched off",
	       "objects: nobody counts any more");
	is_str(line(text, "\nkiobuf"),
	       "kiobuf\tn/a\tn/a\tn/a\tn/a\tn/a\tn/a\tn/a\tn/a\tno alloc_kiovec in this kernel",
	       "objects: where there was anybody");
	shim_ftrace_off = false;
	close_file(&f);
	open_file(&f, FMODE_READ);
	text = print(&f);
	sprintf(wanted, "bio\t0\t0\t0\t0\tn/a\tn/a\t0\t%zu\tbio_alloc_bioset,bio_put",
		sizeof(bio));
	is_str(line(text, "\nbio"), wanted, "objects: none yet");
	is_str(line(text, "\nkiobuf"),
	       "kiobuf\tn/a\tn/a\tn/a\tn/a\tn/a\tn/a\tn/a\tn/a\tno alloc_kiovec in this kernel",
	       "objects: what is not there has no numbers");
	is_str(line(text, "\nalloc_kiobuf_bhs"),
	       "alloc_kiobuf_bhs\tn/a\tn/a\tn/a\tn/a\tn/a\tn/a\tn/a\tn/a\tno alloc_kiobuf_bhs in this kernel",
	       "objects: nor what is only counted");
	for (i = 0; i < 5; i++) {
		static const char * const rows[] = {
			"# objects", "\nbuffer_head", "\nbio", "\nkiobuf",
			"\nalloc_kiobuf_bhs"
		};

		is(count(line(text, rows[i]), '\t'), 9, "objects: columns, %u", i);
	}
	is_str(line(text, "# callers"),
	       "# callers\tobject\tcount\tlive\tpath", "callers: the heading");
	p = strstr(text, "# callers");
	p = p ? strchr(p, '\n') + 1 : "";
	is_str(p,
	       "caller\tbuffer_head\t3\tn/a\tsite_00+0x44/0x800<site_01+0x44/0x800<site_02+0x44/0x800\n"
	       "caller\tbuffer_head\t2\tn/a\tsite_01+0x44/0x800<site_01+0x44/0x800<site_02+0x44/0x800\n",
	       "callers: the most first, innermost first, and no more");
	ok(strstr(text, "# waits") < strstr(text, "# objects"),
	   "objects come after waits");
	close_file(&f);

	/* A plain count; a name that is taken up again. */
	strcpy(cmd, "track calls site_09");
	is(waitprof_control_command(cmd, strlen(cmd), NULL), 0, "track");
	hit(SITES + 9, SITES);
	open_file(&f, FMODE_READ);
	text = print(&f);
	is_str(line(text, "\ncalls"),
	       "calls\t1\tn/a\tn/a\tn/a\tn/a\tn/a\t0\tn/a\tsite_09",
	       "objects: a plain count");
	is_str(line(text, "caller\tcalls"),
	       "caller\tcalls\t1\tn/a\tsite_00+0x44/0x800<site_01+0x44/0x800<site_02+0x44/0x800",
	       "callers: of that");
	close_file(&f);
	strcpy(cmd, "untrack calls");
	is(waitprof_control_command(cmd, strlen(cmd), NULL), 0, "untrack");
	strcpy(cmd, "track calls site_08 site_07");
	is(waitprof_control_command(cmd, strlen(cmd), NULL), 0, "track again");
	open_file(&f, FMODE_READ);
	text = print(&f);
	is_str(line(text, "\ncalls"),
	       "calls\t0\t0\t0\t0\tn/a\tn/a\t0\tn/a\tsite_08,site_07",
	       "objects: from 0");
	ok(!strstr(text, "caller\tcalls"), "callers: none of the one before");
	close_file(&f);
	/* More is given back than was handed out. */
	hit(SITES + 7, SITES);
	hit(SITES + 7, SITES);
	open_file(&f, FMODE_READ);
	is_str(line(print(&f), "\ncalls"),
	       "calls\t0\t2\t-2\t0\tn/a\tn/a\t0\tn/a\tsite_08,site_07",
	       "objects: live has a sign");
	close_file(&f);

	/* Paths without a place. */
	for (i = 0; i < 30; i++)
		hit(ALLOC_BH, SITES + 10 + i);
	open_file(&f, FMODE_READ);
	text = print(&f);
	p = line(text, "(other)\n");
	ok(strstr(text, "# callers\tobject\tcount\tlive\tpath\ncaller\tbuffer_head\t"),
	   "callers: (other) comes first");
	{
		unsigned long long total = 0, n;

		for (p = strstr(text, "caller\tbuffer_head\t"); p;
		     p = strstr(p + 1, "caller\tbuffer_head\t"))
			if (sscanf(p, "caller\tbuffer_head\t%llu", &n) == 1)
				total += n;
		is(total, 35, "callers: with (other), their sum is all");
	}
	close_file(&f);

	/* A reset on a descriptor for both. */
	open_file(&f, FMODE_READ | FMODE_WRITE);
	is(write_file(&f, "reset", 5), 5, "reset");
	ok(strstr(print(&f), "\nbuffer_head\t35\t3\t32\t32\t"),
	   "objects: the window that was closed");
	is(write_file(&f, "reset", 5), 5, "reset again");
	ok(strstr(print(&f), "\nbuffer_head\t0\t0\t0\t0\t"),
	   "objects: an empty one");
	ok(!strstr(print(&f), "\ncaller\t"), "callers: none in it");
	close_file(&f);
	unload();
	sleeper_at(&a, PIPE_READ);
}

static void test_addresses(void)
{
	struct file f;

	load();
	sleep_on(&a, 0, 1000, TASK_INTERRUPTIBLE);
	shim_syslog = false;
	open_file(&f, FMODE_READ);
	ok(!strncmp(line(print(&f), "pipe_read"), "0000000000000000 HERE", 21),
	   "no CAP_SYSLOG: no addresses");
	ok(!strstr(print(&f), "ffffffff"), "not one");
	close_file(&f);
	shim_syslog = true;
	shim_hidden = "0000000000000000";
	open_file(&f, FMODE_READ);
	ok(!strstr(print(&f), "ffffffff"), "kptr_restrict=2: no addresses");
	close_file(&f);
	shim_hidden = "00000000deadbeef";
	open_file(&f, FMODE_READ);
	ok(strstr(print(&f), "ffffffff81"), "else there are");

	/* The rights are those at the opening. */
	shim_syslog = false;
	ok(strstr(print(&f), "ffffffff81"), "and stay");
	close_file(&f);
	unload();
}

static void test_open(void)
{
	struct file f;

	load();
	shim_perfmon = false;
	is(open_file(&f, FMODE_READ), -EPERM, "reading needs CAP_PERFMON");
	is(open_file(&f, FMODE_READ | FMODE_WRITE), -EPERM, "also with writing");
	is(open_file(&f, FMODE_WRITE), 0, "writing does not");
	close_file(&f);
	shim_perfmon = true;
	shim_capable = false;
	is(open_file(&f, FMODE_WRITE), -EPERM, "writing needs CAP_SYS_ADMIN");
	is(open_file(&f, FMODE_READ | FMODE_WRITE), -EPERM, "also with reading");
	is(open_file(&f, FMODE_READ), 0, "reading does not");
	close_file(&f);
	shim_capable = true;

	shim_signal = true;
	is(open_file(&f, FMODE_READ), -EINTR, "a signal comes first");
	shim_signal = false;
	{
		unsigned long before = shim_allocs;
		int left, failed = 0;

		for (left = 0; left < 5; left++) {
			shim_alloc_left = left;
			failed += open_file(&f, FMODE_READ) == -ENOMEM;
			shim_alloc_left = -1;
		}
		is(failed, 5, "each allocation that fails is noticed");
		is(shim_allocs, before, "and leaves nothing");
	}
	unload();
	shim_proc_fails = true;
	is(waitprof_report_init(), -ENOMEM, "no /proc entry");
	shim_proc_fails = false;
}

/* The report by a start for each of its records, as where seq_file's buffer is
 * full behind each; returns how many there are.
 */
static unsigned int print_pieces(struct file *f)
{
	struct seq_file *m = f->private_data;
	unsigned int n;

	m->len = 0;
	for (n = 0;; n++) {
		loff_t pos = n;
		void *v = m->op->start(m, &pos);

		if (v)
			m->op->show(m, v);
		m->op->stop(m, v);
		if (!v)
			return n;
	}
}

/* Positions, in any order: seq_file asks again for where it stopped. */
static void test_positions(void)
{
	struct seq_file *m;
	struct file f;
	loff_t pos;
	char *all;
	unsigned int n;

	load();
	for (n = 0; n < 5; n++)
		cell_of(0, row_of(SITES + n, WAITPROF_S, 0))->hist[n] = 1;
	open_file(&f, FMODE_READ);
	all = strdup(print(&f));
	m = f.private_data;
	is(print_pieces(&f), 7 + 2, "head, five rows and (other), objects, callers");
	is_str(m->text, all, "the same text piece by piece");
	pos = -1;
	ok(!m->op->start(m, &pos), "nothing before the beginning");
	pos = 1ll << 40;
	ok(!m->op->start(m, &pos), "nor far behind the end");
	is_str(print(&f), all, "and the same again");
	free(all);
	close_file(&f);

	open_file(&f, FMODE_WRITE);
	m = f.private_data;
	pos = 0;
	ok(!m->op->start(m, &pos), "opened for writing: nothing to read");
	close_file(&f);
	unload();
}

/* Field case D2: more sites than any machine has. The n-th has n waits. */
static void test_many_rows(void)
{
	const unsigned int sites = 2500;
	unsigned int n, rows = 0, wrong = 0;
	bool *seen = calloc(sites + 1, sizeof(*seen));
	struct seq_file *m;
	struct file f;
	const char *at;
	char *all;

	load_rows(4096);
	for (n = 1; n <= sites; n++) {
		unsigned long ra = world_ra(SITES + n % 64) + n / 64;
		u32 row = waitprof_row(waitprof_site_get(ra), WAITPROF_S * 4);

		cell_of(n % SHIM_CPUS, row)->hist[3] = n;
	}
	open_file(&f, FMODE_READ);
	all = strdup(print(&f));
	m = f.private_data;
	for (at = all; (at = strstr(at, " HERE\t")); at++, rows++) {
		if (sscanf(at, " HERE\t\t\t0\tsite_%*s S user %u", &n) != 1)
			continue;
		wrong += !n || n > sites || seen[n];
		if (n <= sites)
			seen[n] = true;
	}
	is(rows, sites + 1, "D2: a row for each site, and (other)");
	for (n = 1; n <= sites; n++)
		wrong += !seen[n];
	is(wrong, 0, "D2: each once");
	is(print_pieces(&f), sites + 4, "D2: each a record of its own");
	is_str(m->text, all, "D2: the same text piece by piece");
	is_str(print(&f), all, "D2: and the same again");
	free(all);
	free(seen);
	close_file(&f);
	unload();
}

/* Field case D3 */
static void test_write(void)
{
	static const size_t sizes[] = {
		0, WAITPROF_COMMAND_MAX + 1, 511, 512, 513, 4096, 1 << 20,
		0x7ffff000,
	};
	char *text = malloc(WAITPROF_COMMAND_MAX);
	unsigned int i, wrong = 0;
	struct file f, rw;
	loff_t pos;

	load();
	cell_of(0, row_of(PIPE_READ, WAITPROF_S, 0))->hist[3] = 1;
	open_file(&f, FMODE_WRITE);
	memset(text, 'x', WAITPROF_COMMAND_MAX);
	memcpy(text, "reset\n", 6);
	shim_copied = 0;
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		wrong += write_file(&f, text, sizes[i]) != -EINVAL;
	is(wrong, 0, "D3: empty and over-long writes are refused");
	is(shim_copied, 0, "D3: without a look at them");
	is(write_file(&f, text, WAITPROF_COMMAND_MAX), -EINVAL,
	   "D3: the longest is looked at, and no command");
	is(write_file(&f, text, 7), -EINVAL, "D3: a command and a letter");
	is(write_file(&f, SHIM_BAD_POINTER, 5), -EFAULT, "D3: a bad pointer");
	is(write_file(&f, "\0", 1), -EINVAL, "D3: a zero byte");
	is(write_file(&f, "r", 1), -EINVAL, "D3: one byte of a command");
	shim_signal = true;
	is(write_file(&f, "reset", 5), -EINTR, "D3: a signal comes first");
	shim_signal = false;
	is(WAITS, 1, "D3: none of them has changed anything");
	is(waitprof_control.resets, 0, "D3: nor reset");

	is(write_file(&f, "0", 1), 1, "D3: 0 is taken whole");
	is(WAITS, 0, "D3: and done");
	is(write_file(&f, "reset\n", 6), 6, "D3: as is reset and newline");
	is(waitprof_control.resets, 2, "D3: two resets");
	close_file(&f);

	/* Read and reset in one. */
	cell_of(2, row_of(PIPE_READ, WAITPROF_S, 0))->hist[4] = 3;
	is(open_file(&rw, FMODE_READ | FMODE_WRITE), 0, "open for both");
	cell_of(2, row_of(PIPE_READ, WAITPROF_S, 0))->hist[4] = 4;
	ok(strstr(print(&rw), "\t4:3\n"), "reads what was when it was opened");
	pos = 55;
	is(shim_proc_entry.ops->proc_write(&rw, "reset", 5, &pos), 5, "reset");
	is(pos, 0, "it reads from the beginning");
	ok(strstr(print(&rw), "\t4:4\n"), "the window that was closed, whole");
	is(WAITS, 0, "a new one has begun");
	ok(strstr(print(&rw), "ffffffff81"), "with addresses, as before");
	pos = 55;
	is(shim_proc_entry.ops->proc_write(&rw, "rest", 4, &pos), -EINVAL,
	   "what is no command");
	is(pos, 55, "does not move it");
	ok(strstr(print(&rw), "\t4:4\n"), "nor what it reads");
	is(shim_proc_entry.ops->proc_write(&rw, "off", 3, &pos), 3, "off");
	ok(strstr(print(&rw), "\t4:4\n"), "does neither");
	i = shim_allocs;
	shim_alloc_left = 0;
	is(write_file(&rw, "reset", 5), -ENOMEM, "a reset without memory");
	shim_alloc_left = -1;
	is(shim_allocs, i, "leaves nothing");
	is(waitprof_control.resets, 3, "and is none");
	close_file(&rw);
	unload();
	is(shim_allocs, 0, "all memory is given back");
	free(text);
}

int main(void)
{
	world_init();
	test_jiffies();
	test_lines();
	test_classes();
	test_head();
	test_objects();
	test_addresses();
	test_open();
	test_positions();
	test_many_rows();
	test_write();
	free(a.stack.word);
	free(b.stack.word);
	free(machine_idle.stack.word);
	return tap_done();
}
