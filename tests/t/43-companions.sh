# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: others' probes on the functions that bear ours: neither side misses a hit, whoever comes or goes first
# shellcheck source=tests/lib.sh
. ./lib.sh
# shellcheck source=tests/objects.sh
. ./objects.sh

tracing=/sys/kernel/tracing
insmod /waitprof/wp_leak.ko
fixtures

# begin: a kprobe event on each, a return probe where the allocator returns, and
# on schedule() another return probe or function_graph. Both on one function are
# too much for the kernel's own unwinder: then a site may be (unknown).
begin() {
	for fn in schedule alloc_buffer_head free_buffer_head bio_put; do
		echo "p:wp_$fn $fn" >>$tracing/kprobe_events
	done
	echo "r:wp_r_alloc_buffer_head alloc_buffer_head" >>$tracing/kprobe_events
	[ $others$blind != returns ] || echo "r:wp_r_schedule schedule" >>$tracing/kprobe_events
	for event in "$tracing"/events/kprobes/wp_*; do echo 1 >"$event/enable"; done
	if [ $others = graph ]; then
		echo schedule >$tracing/set_ftrace_filter
		echo function_graph >$tracing/current_tracer
	fi
}
end() {
	echo nop >$tracing/current_tracer
	echo >$tracing/set_ftrace_filter
	for event in "$tracing"/events/kprobes/wp_*; do echo 0 >"$event/enable"; done
	echo >$tracing/kprobe_events
	echo >$tracing/trace
}
# hits EVENT, misses: of the others
hits() { awk -v e="$1" '$1 == e { print $2 }' $tracing/kprobe_profile; }
misses() { awk '$1 !~ /^wp_r_schedule$/ { n += $3 } END { print n + 0 }' $tracing/kprobe_profile; }

# theirs NAME: they see 500 pairs of buffer heads, and 200 sleeps or more
theirs() {
	alloc=$(hits wp_alloc_buffer_head) free=$(hits wp_free_buffer_head)
	ret=$(hits wp_r_alloc_buffer_head) sched=$(hits wp_schedule)
	echo pair 500 >/proc/wp_leak
	is "$1: their hits at the allocation, its return and the release" \
		"$(($(hits wp_alloc_buffer_head) - alloc)) $(($(hits wp_r_alloc_buffer_head) - ret)) $(($(hits wp_free_buffer_head) - free))" \
		"500 500 500"
	fixture msleep 200 1
	holds "$1: their hits at schedule()" "$(hits wp_schedule) - $sched >= 200"
	is "$1: they miss none" "$(misses)" 0
}
# ours NAME: 500 pairs, and the sleeps that there were
ours() {
	reset
	echo pair 500 >/proc/wp_leak
	fixture msleep 200 1
	snap s
	is "$1: our allocations and releases" "$(object s allocs buffer_head) $(object s frees buffer_head) $(object s live buffer_head)" "500 500 0"
	is "$1: our sleeps" "$(sum s waits wp_fx_msleep D user) $(sum s waits wp_fx_msleep)" "200 200"
	no_bad_sites "$1" s
	is "$1: nothing lost, nothing in doubt" \
		"$(word s no_slot) $(word s other) $(word s unwind_failed) $(word s mismatches) $(object s missed buffer_head)" "0 0 0 0 0"
}

blind=''
case $(uname -r) in
5.10.*)
	blind=1
	skip "a return probe on schedule()" "on 5.10 no unwinder finds its way past one: sites are (unknown)"
	;;
esac
for others in returns graph; do
	live=map
	[ $others = graph ] || live=count
	for hook in kprobe switch; do
		name="$hook, $live, $others"
		load hook=$hook live=$live check=1 || continue
		begin
		theirs "$name: they came second"
		ours "$name: they came second"
		end
		ours "$name: they went first"
		begin
		unload
		theirs "$name: we went first"
		load hook=$hook live=$live check=1 || continue
		theirs "$name: we came second"
		ours "$name: we came second"
		unload
		theirs "$name: we went first again"
		end
		nothing_left "$name: all have gone"
	done
done
is "tracing as it was" "$(cat $tracing/current_tracer) $(wc -l <$tracing/kprobe_events)" "nop 0"
rmmod wp_fixture
rmmod wp_leak
done_testing
