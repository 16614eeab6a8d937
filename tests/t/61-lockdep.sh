# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: sites found under the run-queue lock while modules come and go: lockdep has nothing to say
# shellcheck source=tests/lib.sh
. ./lib.sh
# shellcheck source=tests/debug.sh
. ./debug.sh

seconds=60

# hook=switch walks every stack in the sched_switch probe; check=1 unwinds there,
# and looks up symbols, each time.
for params in "hook=switch check=1" "hook=kprobe check=1 live=map"; do
	# shellcheck disable=SC2086 # words
	load $params || continue
	rm -f "$tmp/stop"
	jobs=''
	for work in "pp pipe 50" "pp futex 50" "fork 5" "nanosleep 20 1" "hog 1 1"; do
		# shellcheck disable=SC2086 # words
		while [ ! -e "$tmp/stop" ]; do wpfix $work && usleep 20000; done >/dev/null 2>&1 &
		jobs="$jobs $!"
	done
	while [ ! -e "$tmp/stop" ]; do
		snap r
		reset
		usleep 100000
	done &
	jobs="$jobs $!"
	rounds=0 slept=0
	end=$(($(wpfix now) / 1000000000 + seconds))
	while [ $(($(wpfix now) / 1000000000)) -lt $end ]; do
		insmod /waitprof/wp_gone.ko
		echo 5 1 >/proc/wp_gone
		slept=$((slept + $(cut -f3 /proc/wp_gone)))
		insmod /waitprof/wp_raw.ko
		rmmod wp_gone
		insmod /waitprof/wp_twin.ko
		echo 5 1 >/proc/wp_twin
		slept=$((slept + $(cut -f3 /proc/wp_twin)))
		rmmod wp_raw
		rmmod wp_twin
		rounds=$((rounds + 1))
	done
	: >"$tmp/stop"
	# shellcheck disable=SC2086 # words
	wait $jobs
	snap s
	note "$params: $rounds rounds, $slept sleeps in modules that have gone, checked $(word s checked) walks since the last reset"
	holds "$params: there was something to be seen" "$rounds >= 5 && $slept >= 10 * $rounds"
	is "$params: no mismatches" "$(word s mismatches)" 0
	unload
	nothing_left "$params"
	is "$params: the kernel does not complain" "$(complaints)" ""
	lockdep_on "$params"
done
done_testing
