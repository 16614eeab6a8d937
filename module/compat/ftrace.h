/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Calls at the entry of functions by ftrace, which kprobes sit on too: the bare
 * call costs 31 instructions instead of the 152 of a kprobe (6.1, x86-64).
 */
#ifndef _WAITPROF_COMPAT_FTRACE_H
#define _WAITPROF_COMPAT_FTRACE_H

#include <linux/ftrace.h>
#include "compat/version.h"

/* Where kprobes sit on ftrace, it calls at the first instruction. On x86 what the
 * handler gets is a struct pt_regs.
 */
#if defined(CONFIG_KPROBES_ON_FTRACE) && defined(CONFIG_X86_64)
#define WAITPROF_FTRACE
#endif

/**
 * WAITPROF_FTRACE_HANDLER() - the head of a handler
 * @name: the handler; it has @ip and WAITPROF_FTRACE_REGS, of which the stack
 *	pointer, the frame pointer and the arguments are good
 *
 * 5.11 brought struct ftrace_regs (d19ad0775dcd), the arguments in it without
 * all registers being saved (02a474ca266a), and turned the flag round that
 * tells whether the handler is called directly (a25d036d939a). 6.13 hid what
 * struct ftrace_regs holds behind a macro (7888af4166d4), as did 6.12.y.
 */
#ifndef WAITPROF_FTRACE
#define WAITPROF_FTRACE_HANDLER(name)					\
	void __maybe_unused name(unsigned long ip, struct pt_regs *regs)
#define WAITPROF_FTRACE_REGS	regs
#elif WAITPROF_KERNEL_GEQ(5, 11)
#define WAITPROF_FTRACE_FLAGS	0
#define WAITPROF_FTRACE_HANDLER(name)					\
	void notrace name(unsigned long ip, unsigned long parent,	\
			  struct ftrace_ops *ops, struct ftrace_regs *fregs)
#ifdef arch_ftrace_regs
#define WAITPROF_FTRACE_REGS	(&arch_ftrace_regs(fregs)->regs)
#else
#define WAITPROF_FTRACE_REGS	(&fregs->regs)
#endif
#else
#define WAITPROF_FTRACE_FLAGS						\
	(FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_RECURSION_SAFE)
#define WAITPROF_FTRACE_HANDLER(name)					\
	void notrace name(unsigned long ip, unsigned long parent,	\
			  struct ftrace_ops *ops, struct pt_regs *regs)
#define WAITPROF_FTRACE_REGS	regs
#endif

#endif /* _WAITPROF_COMPAT_FTRACE_H */
