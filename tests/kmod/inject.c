// SPDX-License-Identifier: GPL-2.0
/*
 * Names what waitprof calls at its start to the kernel's error injection, so
 * that /sys/kernel/debug/fail_function can make each of them fail. Does nothing
 * where CONFIG_FUNCTION_ERROR_INJECTION is off.
 */
#include <linux/error-injection.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/proc_fs.h>
#include <linux/tracepoint.h>

ALLOW_ERROR_INJECTION(register_module_notifier, ERRNO);
ALLOW_ERROR_INJECTION(register_kprobe, ERRNO);
ALLOW_ERROR_INJECTION(register_kretprobe, ERRNO);
ALLOW_ERROR_INJECTION(tracepoint_probe_register, ERRNO);
ALLOW_ERROR_INJECTION(proc_create, NULL);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("waitprof test fixture: what can be made to fail");
