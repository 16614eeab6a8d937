# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: kernel and user fixtures: counts exact, times within bounds, rows at the function
# shellcheck source=tests/lib.sh
. ./lib.sh

fixtures

# user_fixture HOOK SITE EXTRA WORDS...: EXTRA waits of others at that site: the
# shell waits for the cat of the first snapshot, and for the fixture
user_fixture() {
	hook=$1 site=$2 extra=$3
	shift 3
	for _try in 1 2 3; do
		reset
		snap a
		wpfix "$@" >"$tmp/out"
		snap b
		read -r _what count total _max <"$tmp/out"
		waits=$(($(grown a b waits "$site") - extra))
		time=$(grown a b total_ns "$site")
		again "$total" "$time" "$count" "$waits" "$(not_asleep out)" || break
	done
	is "$hook $1: waits at $site" "$waits" "$count"
	[ "$extra" != 0 ] || is_time "$hook $1" "$total" "$time" "$count" "$(not_asleep out)"
}

for hook in kprobe switch; do
	load "hook=$hook" check=1 || continue
	snap s
	is "$hook: the hook that was asked for" "$(word s hook)" "$hook"
	for name in msleep usleep wait_event wait_event_interruptible wait_event_timeout \
		completion mutex rwsem_write rwsem_read semaphore schedule_timeout \
		timeout_interruptible timeout_uninterruptible timeout_idle schedule io_schedule \
		io_schedule_timeout wait_on_bit wait_on_bit_io kthread kthread_idle; do
		kernel_fixture "$hook" "$name" 23 7
	done
	kernel_fixture "$hook" killable 20
	kernel_fixture "$hook" park 50
	for name in runnable signal early; do
		kernel_fixture "$hook" "$name" 500
	done

	user_fixture "$hook" "$nanosleep" 0 nanosleep 23 10
	user_fixture "$hook" 'pipe_read|anon_pipe_read' 0 pipe 17 10
	user_fixture "$hook" locks_lock_inode_wait 0 flock 7 20
	user_fixture "$hook" 'futex_wait|__futex_wait' 0 futex 17 10
	user_fixture "$hook" futex_lock_pi 0 pifutex 7 20
	user_fixture "$hook" do_wait 2 wait4 17 10
	user_fixture "$hook" pipe_poll 0 poll 17 10
	user_fixture "$hook" do_sys_poll 0 polltimeout 23 10

	for kind in pipe sock futex; do
		wpfix pp "$kind" 1500 >/dev/null
	done
	snap s
	no_bad_sites "$hook" s
	memo_holds "$hook" s 10000
	is "$hook: nothing lost" "$(word s no_slot) $(word s other) $(word s clock_steps) $(word s unwind_failed) $(word s memo_full)" "0 0 0 0 0"
done
rmmod wp_fixture
done_testing
