# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: PREEMPT_RT: who waits for a sleeping spinlock waits in class L, where he takes it
# shellcheck source=tests/lib.sh
. ./lib.sh

if [ "$(cat /sys/kernel/realtime 2>/dev/null)" != 1 ]; then
	skip "sleeping spinlocks" "this kernel has no PREEMPT_RT"
	done_testing
fi
fixtures
# The holder stays on this CPU, too: for one that runs elsewhere there is spinning.
taskset -p 1 $$ >/dev/null

# Field case A6
log_mark
for hook in kprobe switch; do
	load "hook=$hook" check=1 || continue
	for name in spinlock spinlock_bh write_lock read_lock local_lock; do
		kernel_fixture "$hook" "$name" 23 7
	done
	# schedule_rtlock() bears no kprobe: such sites are found at the switch.
	case $hook in
	kprobe) holds "$hook: sleeping spinlocks are late" "$(word s late) >= 23" ;;
	switch) is "$hook: nothing is late" "$(word s late)" 0 ;;
	esac

	# Six threads that take one lock, on all CPUs: whoever spun first has slept
	# less than it took to get the lock.
	reset
	fixture crowd 100 2
	snap s
	IFS="$(printf '\t')" read -r _fn _class count total max calls _nvcsw _tasks </proc/wp_fixture
	note "$hook: 600 locks taken, $count waits"
	is "$hook: crowd: each took the lock" "$calls" 600
	holds "$hook: crowd: many have slept" "$count >= 100"
	is "$hook: crowd: waits at wp_fx_crowd, L kernel" "$(sum s waits wp_fx_crowd L kernel)" "$count"
	is "$hook: crowd: and nowhere else" "$(sum s waits wp_fx_crowd)" "$count"
	holds "$hook: crowd: no more time than it took" \
		"$(sum s total_ns wp_fx_crowd) <= $total && $(sum s max_ns wp_fx_crowd) <= $max"

	no_bad_sites "$hook" s
	memo_holds "$hook" s 100
	is "$hook: nothing lost" "$(word s no_slot) $(word s other) $(word s clock_steps) $(word s unwind_failed) $(word s memo_full)" "0 0 0 0 0"
done
is "the kernel does not complain" \
	"$(log_since | grep -E 'BUG|WARNING|sleeping function|scheduling while atomic|[Ii]nvalid wait context')" ""
rmmod wp_fixture
done_testing
