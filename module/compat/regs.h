/* SPDX-License-Identifier: GPL-2.0 */
/* What is read of the registers at the entry of a function. */
#ifndef _WAITPROF_COMPAT_REGS_H
#define _WAITPROF_COMPAT_REGS_H

#include <linux/ptrace.h>

/**
 * waitprof_argument() - an argument of the function
 * @regs: the registers at its entry
 * @n: which one, from 0 to 3; a constant
 */
static __always_inline unsigned long waitprof_argument(struct pt_regs *regs,
						       unsigned int n)
{
#ifdef CONFIG_X86_64
	return n == 0 ? regs->di : n == 1 ? regs->si :
	       n == 2 ? regs->dx : regs->cx;
#else
	return regs_get_kernel_argument(regs, n);
#endif
}

#endif /* _WAITPROF_COMPAT_REGS_H */
