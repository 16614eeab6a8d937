# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: rounds of load, use and unload leave no object behind, by kmemleak, which sees one that is left on purpose
# shellcheck source=tests/lib.sh
. ./lib.sh
# shellcheck source=tests/debug.sh
. ./debug.sh

fixtures
load && unload
leaks_forget
for round in $(seq 5); do
	for params in hook=kprobe "hook=switch check=1" "live=map skip=one,two"; do
		# shellcheck disable=SC2086 # words
		load $params || continue
		fixture msleep 3 2
		snap s
		echo "track opens chrdev_open" >/proc/waitprof
		insmod /waitprof/wp_raw.ko
		rmmod wp_raw
		wpfix put /proc/waitprof </dev/null >/dev/null
		exec 7<>/proc/waitprof
		echo reset >&7
		cat <&7 >/dev/null
		echo off >/proc/waitprof
		echo on >/proc/waitprof
		# Open when the module goes, the second time.
		[ $((round % 2)) = 0 ] || exec 7>&-
		unload
		exec 7>&-
	done
done
nothing_left "15 rounds"
no_leaks "15 rounds"

wpfix insmod /waitprof/wp_bad.ko do=leak >/dev/null
leaks leaks
is "one that is left on purpose is found" "$(grep -c 'comm "wpfix"' "$tmp/leaks")" 1
leaks_forget
rmmod wp_fixture
is "the kernel does not complain" "$(complaints)" ""
lockdep_on "at the end"
done_testing
