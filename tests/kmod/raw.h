/* SPDX-License-Identifier: GPL-2.0 */
/* Not static: nothing may give these other names, they are probed. */
#ifndef WP_RAW_H
#define WP_RAW_H

struct buffer_head;
struct file;
struct inode;
struct kiobuf;

struct kiobuf *alloc_kiovec(void);
void free_kiovec(struct kiobuf *k);
int alloc_kiobuf_bhs(struct kiobuf *k);
int raw_open(struct inode *inode, struct file *file);
int raw_release(struct inode *inode, struct file *file);

void leak_fn(unsigned int n);
void pair_fn(unsigned int n);
struct buffer_head *notrace_alloc(void);
void notrace_free(struct buffer_head *bh);
void notrace_fn(unsigned int n);

#endif
