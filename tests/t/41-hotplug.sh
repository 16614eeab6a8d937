# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: CPUs go and come under load: what they have counted stays, what sleeps meanwhile is counted once
# shellcheck source=tests/lib.sh
. ./lib.sh

cpu() { echo "$2" >"/sys/devices/system/cpu/cpu$1/online"; }
# on MASK FIXTURE...: on these CPUs alone
on() {
	mask=$1
	shift
	echo clear >/proc/wp_fixture
	taskset "$mask" sh -c "echo $* >/proc/wp_fixture"
}
totals() { echo "$(sum s waits wp_fx_msleep) $(sum s total_ns wp_fx_msleep) $(sum s max_ns wp_fx_msleep)"; }

fixtures
last=$(($(nproc) - 1))
others=$(seq 1 $last)
for hook in kprobe switch; do
	load hook=$hook check=1 || continue
	on 8 msleep 23 7
	snap s
	before=$(totals)
	is "$hook: on a CPU that will go" "${before%% *}" 23
	cpu $last 0
	snap s
	is "$hook: it has gone: cpus=" "$(word s cpus)" "$last"
	is "$hook: it has gone: what it counted is there" "$(totals)" "$before"
	on 1 msleep 17 7
	snap s
	is "$hook: while it is gone" "$(sum s waits wp_fx_msleep)" 40
	cpu $last 1
	snap s
	is "$hook: it is back: what it counted is there" "$(sum s waits wp_fx_msleep)" 40
	on 8 msleep 5 7
	snap s
	is "$hook: and counts on" "$(sum s waits wp_fx_msleep) $(word s cpus)" "45 $((last + 1))"

	# Under load, all but the first again and again. Who turns them off sleeps
	# nowhere where the others do.
	reset
	echo clear >/proc/wp_fixture
	snap a
	echo "msleep 400 5" >/proc/wp_fixture &
	wpfix pipe 300 7 >"$tmp/pipe" &
	wpfix futex 300 7 >"$tmp/futex" &
	load=$!
	turns=0
	while [ -d /proc/$load ] && [ $turns -lt 300 ]; do
		for one in $others; do cpu "$one" 0; done
		for one in $others; do cpu "$one" 1; done
		turns=$((turns + 1))
	done
	wait
	snap s
	holds "$hook: under load: CPUs went and came" "$turns >= 2"
	note "$hook: $turns times"
	is "$hook: under load: waits in the kernel" "$(sum s waits wp_fx_msleep)" "$(cut -f3 /proc/wp_fixture)"
	is "$hook: under load: waits in the pipe" "$(grown a s waits 'pipe_read|anon_pipe_read')" "$(nvcsw pipe)"
	is "$hook: under load: waits at the futex" "$(grown a s waits 'futex_wait|__futex_wait')" "$(nvcsw futex)"
	holds "$hook: under load: no more time than it took" "$(sum s total_ns wp_fx_msleep) <= $(cut -f4 /proc/wp_fixture)"
	is "$hook: under load: no wait is longer than the window" "$(per_row s 'v["max_ns"] > window_ns')" ""
	no_bad_sites "$hook" s
	memo_holds "$hook" s 1000
	is "$hook: under load: nothing lost" "$(word s no_slot) $(word s other)" "0 0"
	format_holds "$hook: under load" s

	# Loaded with one gone, which then comes; unloaded with another gone.
	unload
	cpu $last 0
	load hook=$hook check=1 || continue
	cpu $last 1
	on 8 msleep 11 7
	cpu 1 0
	snap s
	is "$hook: a CPU that came after the load counts" "$(sum s waits wp_fx_msleep)" 11
	unload
	cpu 1 1
	nothing_left "$hook: unload with a CPU gone"
done
rmmod wp_fixture
done_testing
