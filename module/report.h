/* SPDX-License-Identifier: GPL-2.0 */
/*
 * REPORT: /proc/waitprof.
 *
 *	# waitprof 1 version=... window_ns=...
 *	# memory total_kb=... free_kb=...
 *	# lost no_slot=0 other=0 late=0 ...
 *	# waits - - jiffies site class tasks waits ...
 *	ffffffff8137a44c HERE 143815 __bread_gfp+0x5c/0x110 Dio user 5120 ...
 *	|                     |      |                      |   |    |
 *	|                     |      |                      |   |    finished waits
 *	|                     |      |                      |   or kernel
 *	|                     |      |                      state slept in
 *	|                     |      name of the return address
 *	|                     time waited, in ticks of HZ
 *	return address; zeros for those who may not see it
 *
 * with tabs between the columns, three before the jiffies. The file
 * doc/proc-waitprof.rst tells every field.
 */
#ifndef _WAITPROF_REPORT_H
#define _WAITPROF_REPORT_H

int waitprof_report_init(void);
void waitprof_report_exit(void);

#endif /* _WAITPROF_REPORT_H */
