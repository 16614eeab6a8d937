/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the module needs of the kernel, on the host. Everything is static: a
 * test is one file. Names that begin with shim_ are for the tests: they say
 * what the "kernel" does.
 */
#ifndef _SHIM_H
#define _SHIM_H

#include "shim_base.h"
#include "shim_print.h"
#include "shim_kernel.h"
#include "shim_ftrace.h"
#include "shim_probe.h"
#include "shim_proc.h"
#include "shim_poll.h"

#endif /* _SHIM_H */
