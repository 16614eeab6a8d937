#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the guest: the same ping-pongs without the module and with each hook, twice,
# and pairs of an allocation and a release of a buffer head. Prints "hook kind
# instructions-per-switch" and "live frames instructions-per-pair", and the
# headings of the reports.
cd /waitprof || exit 1

# measure NAME KIND...
measure() {
	name=$1
	shift
	for kind in "$@"; do
		for _round in 1 2; do
			if [ "$kind" = yield ]; then
				wpfix ppyield 3000
			else
				wpfix pp "$kind" 3000
			fi | awk -F '\t' -v hook="$name" '{ printf "%s %s %.1f\n", hook, $2, $4 / $3 }'
		done
	done
}

# pairs LIVE FRAMES
pairs() {
	for _round in 1 2; do
		echo "pair 10000" >/proc/wp_leak
		awk -v live="$1" -v frames="$2" '{ printf "pair-%s %s %.1f\n", live, frames, $3 / $2 }' /proc/wp_leak
	done
}

measure none pipe sock futex poll yield
insmod wp_leak.ko
pairs none 0
for hook in kprobe switch; do
	insmod waitprof.ko hook=$hook || exit 1
	measure "$hook" pipe sock futex poll yield
	echo "poll off" >/proc/waitprof
	measure "$hook-nopoll" poll
	grep '^# ' /proc/waitprof | sed "s/^/#$hook /"
	rmmod waitprof
done
for live in count map; do
	for frames in 1 4 8; do
		insmod waitprof.ko live=$live alloc_depth=$frames || exit 1
		pairs $live $frames
		rmmod waitprof
	done
done
