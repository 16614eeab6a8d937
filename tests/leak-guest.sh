#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the guest: the hunt for a leak of doc/leak.rst. Prints each command as it is
# typed, and what it prints.
cd /waitprof || exit 1
PATH=$PATH:/waitprof/scripts

# The machine's ordinary work, and a driver that forgets some buffer heads.
insmod wp_leak.ko
while :; do
	dd if=/dev/zero of=/mnt/f bs=4k count=500 2>/dev/null
	sync
	rm /mnt/f
	echo leak 100 >/proc/wp_leak
	sleep 0.5
done &
work=$!

type_in() {
	echo "# $1"
	eval "$1" 2>&1
	echo
}
type_in 'insmod waitprof.ko live=map'
# shellcheck disable=SC2016 # for the eval
type_in 'for i in 1 2 3; do sleep 5; sync; echo 3 >/proc/sys/vm/drop_caches; cat /proc/waitprof >/tmp/$i; done'
type_in 'waitprof table /tmp/1 /tmp/2 /tmp/3'
kill $work
wait $work 2>/dev/null
type_in "grep ^caller /tmp/3 | sort -t '	' -k 4 -nr | head -n 2"
type_in 'waitprof graph buffer_head /tmp/3 | grep -B 3 leak_fn'
rmmod waitprof
