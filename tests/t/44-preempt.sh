# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: each preemption model that the kernel can be switched to: counts exact, sites right
# shellcheck source=tests/lib.sh
. ./lib.sh

modes=/sys/kernel/debug/sched/preempt
if [ ! -e $modes ]; then
	skip "preemption models" "this kernel cannot switch them"
	done_testing
fi
booted=$(sed -n 's/.*(\([a-z]*\)).*/\1/p' $modes)
fixtures
for mode in $(tr -d '()' <$modes); do
	echo "$mode" >$modes
	is "preempt=$mode: in force" "$(sed -n 's/.*(\([a-z]*\)).*/\1/p' $modes)" "$mode"
	for hook in kprobe switch; do
		load hook=$hook check=1 || continue
		for name in msleep wait_event mutex rwsem_read semaphore wait_on_bit_io kthread; do
			kernel_fixture "$mode, $hook" $name 23 7
		done
		for name in runnable signal early; do
			kernel_fixture "$mode, $hook" $name 100
		done
		reset
		snap a
		wpfix pipe 50 5 >"$tmp/pipe"
		wpfix futex 50 5 >"$tmp/futex"
		wpfix pifutex 50 5 >"$tmp/pifutex"
		snap b
		is "$mode, $hook: waits in the pipe, at the futex, at the PI futex" \
			"$(grown a b waits 'pipe_read|anon_pipe_read') $(grown a b waits 'futex_wait|__futex_wait') $(grown a b waits futex_lock_pi)" \
			"$(nvcsw pipe) $(nvcsw futex) $(nvcsw pifutex)"
		no_bad_sites "$mode, $hook" b
		memo_holds "$mode, $hook" b 100
		is "$mode, $hook: nothing lost" "$(word b no_slot) $(word b other)" "0 0"
	done
done
echo "$booted" >$modes
rmmod wp_fixture
done_testing
