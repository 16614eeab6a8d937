#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the guest: the same ping-pongs without the module and with each hook, twice.
# Prints "hook kind instructions-per-switch", and the headings of the reports.
cd /waitprof || exit 1

measure() {
	for kind in pipe sock futex yield; do
		for _round in 1 2; do
			if [ $kind = yield ]; then
				wpfix ppyield 3000
			else
				wpfix pp $kind 3000
			fi | awk -F '\t' -v hook="$1" '{ printf "%s %s %.1f\n", hook, $2, $4 / $3 }'
		done
	done
}

measure none
for hook in kprobe switch; do
	insmod waitprof.ko hook=$hook || exit 1
	measure $hook
	grep '^# ' /proc/waitprof | sed "s/^/#$hook /"
	rmmod waitprof
done
