# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: sites found under the run-queue lock while modules come and go: no lock is taken there, lockdep has nothing to say
# shellcheck source=tests/lib.sh
. ./lib.sh
# shellcheck source=tests/debug.sh
. ./debug.sh

# Field case A6, where the kernel checks for it
seconds=60

# busy: tasks that sleep and wake, until there is a file "stop"
busy() {
	rm -f "$tmp/stop"
	jobs=''
	for work in "pp pipe 50" "pp futex 50" "fork 5" "nanosleep 20 1" "hog 1 1"; do
		# shellcheck disable=SC2086 # words
		while [ ! -e "$tmp/stop" ]; do wpfix $work && usleep 20000; done >/dev/null 2>&1 &
		jobs="$jobs $!"
	done
	while [ ! -e "$tmp/stop" ]; do
		[ ! -e $proc ] || { snap r && reset; }
		usleep 100000
	done &
	jobs="$jobs $!"
}
idle() {
	: >"$tmp/stop"
	# shellcheck disable=SC2086 # words
	wait $jobs
}

# churn: modules whose functions sleep and are probed come and go; counts rounds,
# and the sleeps in them
churn() {
	rounds=0 slept=0
	end=$(($(wpfix now) / 1000000000 + seconds))
	while [ $(($(wpfix now) / 1000000000)) -lt $end ]; do
		insmod /waitprof/wp_gone.ko
		echo 5 3 >/proc/wp_gone
		slept=$((slept + $(cut -f3 /proc/wp_gone)))
		insmod /waitprof/wp_raw.ko
		rmmod wp_gone
		insmod /waitprof/wp_twin.ko
		echo 5 3 >/proc/wp_twin
		slept=$((slept + $(cut -f3 /proc/wp_twin)))
		rmmod wp_raw
		rmmod wp_twin
		rounds=$((rounds + 1))
	done
}

# locks_within: those that somebody took while he held a run queue's
locks_within() {
	awk '!/^ ->/ { at = / &rq->__lock$/ } at && /^ ->/ { sub(/^ -> \[[^]]*\] /, ""); print }' /proc/lockdep | sort -u
}

busy
churn
idle
locks_within >"$tmp/without"
note "within a run queue's lock: $(tr '\n' ' ' <"$tmp/without")"
holds "without the module: there was something to be seen" "$rounds >= 5 && $(wc -l <"$tmp/without") > 0"

# hook=switch walks every stack in the sched_switch probe; with check=1 it unwinds
# there, and looks up symbols, each time.
for params in "hook=switch check=1" "hook=kprobe check=1 live=map"; do
	# shellcheck disable=SC2086 # words
	load $params || continue
	busy
	churn
	idle
	snap s
	note "$params: $rounds rounds, $slept sleeps in modules that have gone, checked $(word s checked) walks since the last reset"
	holds "$params: there was something to be seen" "$rounds >= 5 && $slept >= 5 * $rounds"
	is "$params: no mismatches" "$(word s mismatches)" 0
	unload
	nothing_left "$params"
	is "$params: the kernel does not complain" "$(complaints)" ""
	lockdep_on "$params"
	locks_within >"$tmp/with"
	is "$params: no other lock was taken within a run queue's" "$(grep -vxFf "$tmp/without" "$tmp/with")" ""
done
done_testing
