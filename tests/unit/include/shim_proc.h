/* SPDX-License-Identifier: GPL-2.0 */
/* Files, seq_file, capabilities, the numbers of /proc/meminfo. */
#ifndef _SHIM_PROC_H
#define _SHIM_PROC_H

#include "shim_base.h"
#include "shim_print.h"
#include "shim_kernel.h"

#ifndef HZ
#define HZ			250
#endif

#define FMODE_READ		1
#define FMODE_WRITE		2

struct inode;
struct kiocb;
struct iov_iter;
struct proc_dir_entry {
	const struct proc_ops *ops;
};

struct file_operations {
	void (*poll)(void);
};

struct file {
	unsigned int f_mode;
	void *private_data;
	const struct file_operations *f_op;
	struct socket *shim_socket;
};

/* All that is printed goes to @text. */
struct seq_file {
	void *private;
	struct mutex lock;
	const struct seq_operations *op;
	char *text;
	size_t len, size;
	/* what the real one has buffered, and of which record */
	size_t count;
	loff_t index, read_pos;
};

struct seq_operations {
	void *(*start)(struct seq_file *m, loff_t *pos);
	void (*stop)(struct seq_file *m, void *v);
	void *(*next)(struct seq_file *m, void *v, loff_t *pos);
	int (*show)(struct seq_file *m, void *v);
};

struct proc_ops {
	int (*proc_open)(struct inode *inode, struct file *file);
	ssize_t (*proc_read_iter)(struct kiocb *iocb, struct iov_iter *iter);
	ssize_t (*proc_write)(struct file *file, const char *buf, size_t count,
			      loff_t *pos);
	loff_t (*proc_lseek)(struct file *file, loff_t pos, int whence);
	int (*proc_release)(struct inode *inode, struct file *file);
};

#define SEQ_START_TOKEN		((void *)1)

static inline int seq_open(struct file *file, const struct seq_operations *op)
{
	struct seq_file *m = shim_alloc(sizeof(*m), 0);

	if (!m)
		return -ENOMEM;
	m->op = op;
	file->private_data = m;
	return 0;
}

static inline int seq_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	free(m->text);
	shim_free(m);
	return 0;
}

static inline ssize_t seq_read_iter(struct kiocb *iocb, struct iov_iter *iter)
{
	return 0;
}

static inline loff_t seq_lseek(struct file *file, loff_t pos, int whence)
{
	return pos;
}

static inline void seq_write(struct seq_file *m, const char *text, size_t len)
{
	if (m->len + len + 1 > m->size) {
		m->size = 2 * (m->len + len + 1);
		m->text = realloc(m->text, m->size);
	}
	memcpy(m->text + m->len, text, len);
	m->len += len;
	m->text[m->len] = '\0';
}

static inline void seq_printf(struct seq_file *m, const char *fmt, ...)
{
	char text[4096];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = shim_vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(text))
		abort();
	seq_write(m, text, n);
}

#define seq_puts(m, s)		seq_write(m, s, strlen(s))
#define seq_putc(m, c)		seq_write(m, (char[1]){ c }, 1)

static struct proc_dir_entry shim_proc_entry __maybe_unused;
static bool shim_proc_fails __maybe_unused;

static inline struct proc_dir_entry *proc_create(const char *name, int mode,
						 struct proc_dir_entry *dir,
						 const struct proc_ops *ops)
{
	if (shim_proc_fails)
		return NULL;
	shim_proc_entry.ops = ops;
	return &shim_proc_entry;
}

static inline void proc_remove(struct proc_dir_entry *entry)
{
	entry->ops = NULL;
}

/* Capabilities of whoever opens. */
struct user_namespace {
	int unused;
};

static struct user_namespace init_user_ns __maybe_unused;
static bool shim_capable __maybe_unused;	/* CAP_SYS_ADMIN */
static bool shim_perfmon __maybe_unused;
static bool shim_syslog __maybe_unused;

#define CAP_SYS_ADMIN		21
#define CAP_SYSLOG		34
#define capable(cap)		shim_capable
#define perfmon_capable()	shim_perfmon
#define file_ns_capable(file, ns, cap) ((void)(file), (void)(ns), shim_syslog)

/* A user's pointer that is none. */
#define SHIM_BAD_POINTER	((char *)16)

static unsigned long shim_copied __maybe_unused;

static inline unsigned long copy_from_user(void *to, const char *from,
					   unsigned long n)
{
	if (from == SHIM_BAD_POINTER)
		return n;
	shim_copied += n;
	memcpy(to, from, n);
	return 0;
}

struct new_utsname {
	char release[65];
};

static struct new_utsname shim_uts __maybe_unused = { "6.1.0-test" };
#define init_utsname()		(&shim_uts)

/* Memory, in pages. */
struct sysinfo {
	unsigned long totalram, freeram, bufferram, freehigh;
};

static inline void si_meminfo(struct sysinfo *i)
{
	*i = (struct sysinfo) { 1000, 500, 20, 100 };
}

#define si_mem_available()	600ul
enum {
	NR_FILE_PAGES,
	NR_SWAPCACHE,
	NR_SLAB_RECLAIMABLE_B,
	NR_SLAB_UNRECLAIMABLE_B,
};

static inline unsigned long global_node_page_state(int item)
{
	static const unsigned long pages[] = { 300, 30, 40, 50 };

	return pages[item];
}

#define global_node_page_state_pages(item) global_node_page_state(item)

#endif /* _SHIM_PROC_H */
