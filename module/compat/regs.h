/* SPDX-License-Identifier: GPL-2.0 */
/* What is read of the registers at the entry of a function. */
#ifndef _WAITPROF_COMPAT_REGS_H
#define _WAITPROF_COMPAT_REGS_H

#include <linux/ptrace.h>

#ifdef CONFIG_X86_64
#define waitprof_first_argument(regs)	((regs)->di)
#else
#define waitprof_first_argument(regs)	regs_get_kernel_argument(regs, 0)
#endif

#endif /* _WAITPROF_COMPAT_REGS_H */
