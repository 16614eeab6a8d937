// SPDX-License-Identifier: GPL-2.0
/* PROBE: a probe that comes and goes. See point.h. */

#include <linux/module.h>
#include <linux/string.h>
#include "point.h"

/**
 * waitprof_point_attach() - put the probe in place
 * @point: the point
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno, which is kept in @point.
 */
int waitprof_point_attach(struct waitprof_point *point)
{
	if (point->attached)
		return 0;
	/* Registration leaves its traces in the struct. */
	memset(&point->probe, 0, sizeof(point->probe));
	point->probe.kp.symbol_name = point->symbol;
	if (point->handler) {
		point->probe.kp.pre_handler = point->handler;
		point->err = register_kprobe(&point->probe.kp);
	} else {
		point->probe.entry_handler = point->entry;
		point->probe.handler = point->ret;
		point->probe.data_size = point->data_size;
		point->probe.maxactive = point->maxactive;
		point->err = register_kretprobe(&point->probe);
	}
	point->attached = !point->err;
	return point->err;
}

/**
 * waitprof_point_detach() - take it away
 * @point: the point
 *
 * When it returns, no handler of it runs.
 *
 * Context: process, may sleep.
 */
void waitprof_point_detach(struct waitprof_point *point)
{
	if (!point->attached)
		return;
	if (point->handler)
		unregister_kprobe(&point->probe.kp);
	else
		unregister_kretprobe(&point->probe);
	point->missed += point->probe.kp.nmissed + point->probe.nmissed;
	point->attached = false;
}

/**
 * waitprof_point_leaves() - does the function of a point go?
 * @point: the point
 * @event: what happens to a module: its init sections go when it is live, the
 *	rest when it is going
 * @mod: the module
 */
bool waitprof_point_leaves(struct waitprof_point *point, unsigned long event,
			   struct module *mod)
{
	unsigned long addr = (unsigned long)point->probe.kp.addr;

	if (!point->attached)
		return false;
	if (event == MODULE_STATE_GOING)
		return within_module(addr, mod);
	return event == MODULE_STATE_LIVE && within_module_init(addr, mod);
}

/**
 * waitprof_point_missed() - hits that it could not take, since load
 * @point: the point
 */
unsigned long waitprof_point_missed(const struct waitprof_point *point)
{
	if (!point->attached)
		return point->missed;
	return point->missed + READ_ONCE(point->probe.kp.nmissed) +
	       READ_ONCE(point->probe.nmissed);
}
