# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: many CPUs, several nodes: each CPU counts, and the memory is what the header says
# shellcheck source=tests/lib.sh
. ./lib.sh

# on CPU COUNT
on() { taskset "$(printf '%x' $((1 << $1)))" sh -c "echo msleep $2 3 >/proc/wp_fixture"; }
used() { awk '$1 == "VmallocUsed:" { print $2 }' /proc/meminfo; }

fixtures
nodes=$(cd /sys/devices/system/node && echo node*)
note "$(nproc) CPUs; $nodes"
for hook in kprobe switch; do
	unload
	before=$(used)
	load hook=$hook check=1 || continue
	snap s
	grown=$(($(used) - before))
	is "$hook: cpus=" "$(word s cpus)" "$(nproc)"
	# The memo, 256 KiB, is part of the module, whose pages are not all in there;
	# on top comes what is rounded up to pages.
	note "$hook: memory_kb=$(word s memory_kb), VmallocUsed has grown by $grown KiB"
	holds "$hook: the memory is as it says" \
		"$grown >= $(word s memory_kb) * 0.95 - 256 && $grown <= $(word s memory_kb) * 1.05 + 1024"

	reset
	echo clear >/proc/wp_fixture
	cpu=0
	while [ $cpu -lt "$(nproc)" ]; do
		on $cpu 5
		cpu=$((cpu + 1))
	done
	snap s
	is "$hook: each CPU counts" "$(sum s waits wp_fx_msleep D user)" $((5 * cpu))
	is_time "$hook: each CPU counts" "$(awk '{ n += $4 } END { printf "%.0f", n }' /proc/wp_fixture)" \
		"$(sum s total_ns wp_fx_msleep)" $((5 * cpu))
	for kind in pipe futex; do
		reset
		snap a
		wpfix $kind 50 2 >"$tmp/$kind"
		snap b
		is "$hook: waits of $kind" "$(grown a b waits 'pipe_read|anon_pipe_read|futex_wait|__futex_wait')" "$(nvcsw $kind)"
	done
	works hop 1000
	is "$hook: waits that change CPU" "$(user_waits w)" "$(of nvcsw)"
	no_bad_sites $hook b
	is "$hook: nothing lost" "$(word w no_slot) $(word w other) $(word b unwind_failed) $(word b mismatches)" "0 0 0 0"
	format_holds $hook w
	unload
	nothing_left "$hook: unload"
	# All but the stacks of threads that have come meanwhile.
	holds "$hook: the memory is back" "$(used) <= $before + 1024"
done
rmmod wp_fixture
done_testing
