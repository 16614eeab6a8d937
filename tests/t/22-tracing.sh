# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: beside other tracing: ftrace or kprobes switched off, function_graph, a kprobe event; others' stacks
# shellcheck source=tests/lib.sh
. ./lib.sh
# shellcheck source=tests/objects.sh
. ./objects.sh

tracing=/sys/kernel/tracing
fixtures

# slept: waits of the last fixture; on a slow machine some wake before they sleep
slept() { cut -f3 /proc/wp_fixture; }

# counted NAME: a workload in the kernel and one of user space; all there, once,
# at their functions, and nowhere else
counted() {
	reset
	fixture msleep 23 3
	truth=$(slept)
	fixture completion 17 3
	truth="$truth $(slept)"
	snap a
	wpfix pipe 17 3 >"$tmp/pipe"
	wpfix pp futex 300 >"$tmp/pp"
	wpfix pifutex 30 3 >"$tmp/pifutex"
	snap b
	is "$1: waits of the fixtures" \
		"$(sum b waits wp_fx_msleep D user) $(sum b waits wp_fx_completion D user) $(sum b waits wp_fx_msleep) $(sum b waits wp_fx_completion)" \
		"$truth $truth"
	is "$1: waits for the pipe" "$(grown a b waits 'pipe_read|anon_pipe_read')" "$(nvcsw pipe)"
	holds "$1: waits of 300 rounds of futex" "$(grown a b waits 'futex_wait|__futex_wait') >= 500"
	is "$1: waits for the PI futex" "$(grown a b waits futex_lock_pi)" "$(nvcsw pifutex)"
	no_bad_sites "$1" b
	is "$1: nothing lost, nothing in doubt" \
		"$(word b no_slot) $(word b other) $(word b clock_steps) $(word b unwind_failed) $(word b mismatches)" "0 0 0 0 0"
	format_holds "$1" b
}

# not_reached FILE: the objects that say so
not_reached() { awk -F '\t' '/; not reached/ { printf "%s ", $1 }' "$tmp/$1"; }

# hardly_late NAME: who was preempted behind the kprobe is, and with PREEMPT_RT
# every wait for a spinlock; no row tells those from the sites that were late
hardly_late() {
	holds "$1: hardly a site is late" "$(word b late) <= 20 + $(sum b waits '*' L)"
}

# --- the hook is switched off behind our back ------------------------------------

for sw in /proc/sys/kernel/ftrace_enabled /sys/kernel/debug/kprobes/enabled; do
	name=${sw##*/}
	[ "$name" != enabled ] || name=kprobes/enabled
	# On arm64 no kprobe sits on ftrace.
	[ "$name $(uname -m)" != "ftrace_enabled aarch64" ] || continue
	if ! (echo 0 >$sw) 2>/dev/null; then
		skip "$name" "this kernel does not let it be switched off"
		continue
	fi
	echo 1 >$sw
	# Kprobes that are switched off matter only where there is one.
	by=ftrace use=1
	[ "$name" = ftrace_enabled ] || by=kprobe use=0
	load hook=kprobe check=1 ftrace=$use || continue
	counted "$name=1"
	is "$name=1: how schedule is probed" "$(word b entry)" $by
	hardly_late "$name=1"
	echo 0 >$sw
	counted "$name=0 while loaded"
	holds "$name=0 while loaded: late counts these waits" "$(word b late) >= ${truth% *} + ${truth#* } + $(nvcsw pipe) + 500"
	is "$name=0 while loaded: the hook is still" "$(word b hook)" kprobe
	is "$name=0 while loaded: objects say that they are not reached" "$(not_reached b)" "buffer_head bio "
	echo 1 >$sw
	counted "$name=1 again"
	is "$name=1 again: objects are reached" "$(not_reached b)" ""
	hardly_late "$name=1 again"
	echo 0 >$sw
	log_mark
	unload
	nothing_left "$name=0: unload"
	is "$name=0: unload says nothing" "$(log_since)" ""

	load hook=kprobe check=1 ftrace=$use || continue
	snap s
	is "loaded with $name=0: runs as switch, and says why" \
		"$(word s hook) $(word s hook_asked) $(word s hook_why)" "switch kprobe kprobe-not-reached"
	counted "loaded with $name=0"
	is "loaded with $name=0: nothing is late" "$(word b late)" 0
	is "loaded with $name=0: no kprobe is left in place" "$(grep -cw schedule /sys/kernel/debug/kprobes/list)" 0
	echo off >/proc/waitprof
	echo 1 >$sw
	echo on >/proc/waitprof
	snap s
	is "$name=1, off and on: the hook that was asked for" \
		"$(word s hook) $(word s hook_asked)$(word s hook_why)" "kprobe "
	counted "$name=1, off and on"
	hardly_late "$name=1, off and on"
	unload
	nothing_left "$name=1: unload"
done

# Where ftrace calls, as on arm64 it does not, no kprobe can be switched off.
if [ -e /sys/kernel/debug/kprobes/enabled ] && [ "$(uname -m)" != aarch64 ]; then
	load hook=kprobe check=1
	echo 0 >/sys/kernel/debug/kprobes/enabled
	counted "by ftrace, kprobes/enabled=0"
	is "by ftrace, kprobes/enabled=0: how schedule is probed" "$(word b hook) $(word b entry)" "kprobe ftrace"
	hardly_late "by ftrace, kprobes/enabled=0"
	unload
	echo 1 >/sys/kernel/debug/kprobes/enabled
fi

# --- functions that the module itself calls are tracked ----------------------------

for by in "ftrace=1" "ftrace=0"; do
	load hook=kprobe check=1 $by || continue
	for f in unwind_next_frame stack_trace_save sprint_symbol_no_offset kallsyms_lookup vsnprintf strchr schedule; do
		# Not each kernel has all; schedule it has.
		echo "track $f $f" 2>/dev/null >/proc/waitprof
	done
	counted_by() { awk -F '\t' -v n="$1" '$1 == n { print $2 }' "$tmp/b"; }
	reset
	fixture msleep 23 3
	truth=$(slept)
	fixture completion 17 3
	truth="$truth $(slept)"
	# Some of these are never at rest else.
	echo off >/proc/waitprof
	snap b
	is "$by, tracked: waits of the fixtures" "$(sum b waits wp_fx_msleep) $(sum b waits wp_fx_completion)" "$truth"
	is "$by, tracked: nothing lost" "$(word b no_slot) $(word b other) $(word b mismatches)" "0 0 0"
	holds "$by, tracked: schedule is counted" "$(counted_by schedule) >= ${truth% *} + ${truth#* }"
	objects_hold "$by, tracked" b
	unload
	nothing_left "$by, tracked: unload"
done

# --- functions at whose entries ftrace does not call --------------------------------

# There a kprobe is a breakpoint, or a jump where the kernel has had time to make
# it one. The handler of a breakpoint runs as if in an NMI, but is none.
jumps=/proc/sys/debug/kprobes-optimization
# kind: of the probe on one of them; the other begins with a call, which no jump
# can take the place of
kind() { sed -n '/ notrace_alloc/s/.*wp_leak *//p' /sys/kernel/debug/kprobes/list; }
# all_counted NAME: of N pairs each is counted, once, and where it was
all_counted() {
	reset
	echo notrace 2000 >/proc/wp_leak
	snap b
	is "$1: counts" "$(objects b notrace) $(object b missed notrace)" "2000 2000 0 $none $none 0"
	is "$1: by path" "$(callers b count notrace notrace_fn)" 2000
}
insmod /waitprof/wp_leak.ko
for how in count:0 count:1 map:0 map:1; do
	live=${how%:*}
	name="breakpoint, live=$live"
	wanted=''
	none=n/a
	[ "$live" = count ] || none=0
	case $how in
	*:1)
		# Not on arm64.
		[ -e $jumps ] || continue
		name="jump, live=$live"
		wanted='[OPTIMIZED]'
		;;
	esac
	[ ! -e $jumps ] || echo "${how#*:}" >$jumps
	load "live=$live" || continue
	echo "track notrace wp_leak:notrace_alloc wp_leak:notrace_free" >/proc/waitprof
	for _try in $(seq 100); do
		[ "$(kind)" != "$wanted" ] || break
		sleep 0.1
	done
	is "$name: that is how they are probed" "$(kind)" "$wanted"
	all_counted "$name"
	is "$name: buffer heads within" "$(callers b count buffer_head notrace_alloc) $(object b missed buffer_head)" "2000 0"
	is "$name: reached" "$(not_reached b)" ""
	objects_hold "$name" b
	by=$(word b entry)
	if [ "$by" = ftrace ] && (echo 0 >/proc/sys/kernel/ftrace_enabled) 2>/dev/null; then
		all_counted "$name, ftrace_enabled=0"
		is "$name, ftrace_enabled=0: who is not reached" "$(not_reached b)" "buffer_head bio "
		echo 1 >/proc/sys/kernel/ftrace_enabled
	fi
	if [ -e /sys/kernel/debug/kprobes/enabled ]; then
		echo 0 >/sys/kernel/debug/kprobes/enabled
		reset
		echo notrace 10 >/proc/wp_leak
		snap b
		is "$name, kprobes/enabled=0: counts" "$(objects b notrace)" "0 0 0 $none $none"
		# A return probe is a kprobe too.
		[ "$by $live" = "ftrace count" ] && others='' || others='buffer_head bio '
		is "$name, kprobes/enabled=0: who is not reached" "$(not_reached b)" "${others}notrace "
		echo 1 >/sys/kernel/debug/kprobes/enabled
		all_counted "$name, kprobes/enabled=1 again"
		is "$name, kprobes/enabled=1 again: reached" "$(not_reached b)" ""
	fi
	unload
	nothing_left "$name: unload"
done
[ ! -e $jumps ] || echo 1 >$jumps
rmmod wp_leak

# --- the stack of a sleeper (field case A3) ---------------------------------------

stack() { sed 's/^.*\] //' "/proc/$1/stack"; }
sleep 1000 &
one=$!
sleep 0.3
stack $one >"$tmp/one"
wchan=$(cat /proc/$one/wchan)
for hook in kprobe switch; do
	load "hook=$hook" check=1 || continue
	sleep 1000 &
	two=$!
	sleep 0.3
	stack $one >"$tmp/again"
	stack $two >"$tmp/two"
	holds "$hook: the stack of a sleeper has frames" "$(wc -l <"$tmp/one") >= 4"
	check "$hook: asleep before the load: the same stack" cmp "$tmp/one" "$tmp/again"
	check "$hook: asleep since: the same stack" cmp "$tmp/one" "$tmp/two"
	is "$hook: and the same wchan" "$(cat /proc/$two/wchan)" "$wchan"
	unload
	stack $two >"$tmp/two"
	check "$hook: after the unload: the same stack" cmp "$tmp/one" "$tmp/two"
	kill $two
	wait $two 2>/dev/null
done
kill $one
wait $one 2>/dev/null

# --- function_graph, and a kprobe event, on schedule ------------------------------

# tracer event|graph on|off
tracer() {
	case "$1 $2" in
	"graph on")
		echo schedule >"$tracing/set_ftrace_filter"
		echo function_graph >"$tracing/current_tracer"
		;;
	"graph off")
		echo nop >"$tracing/current_tracer"
		echo >"$tracing/set_ftrace_filter"
		;;
	"event on")
		echo 'p:wp_own schedule' >>"$tracing/kprobe_events"
		echo 1 >"$tracing/events/kprobes/wp_own/enable"
		echo 1 >"$tracing/events/sched/sched_switch/enable"
		;;
	"event off")
		echo 0 >"$tracing/events/sched/sched_switch/enable"
		echo 0 >"$tracing/events/kprobes/wp_own/enable"
		echo '-:wp_own' >>"$tracing/kprobe_events"
		;;
	esac
}
# hits TRACER: something that grows as long as the other tracer works
hits() {
	case $1 in
	event) awk '$1 == "wp_own" { print $2 }' "$tracing/kprobe_profile" ;;
	graph) awk '/^(entries|overrun)/ { n += $2 } END { print n }' "$tracing"/per_cpu/cpu*/stats ;;
	esac
}
# grows NAME TRACER: in a while, or with what runs meanwhile
grows() {
	before=$(hits "$2")
	wpfix nanosleep 20 1 >/dev/null
	holds "$1: the other tracer sees schedule() as before" "$(hits "$2") >= $before + 20"
}

# under NAME: function_graph may change the return address that the kprobe has seen
under() {
	case $other in
	event) hardly_late "$1" ;;
	*) note "$1: late=$(word b late)" ;;
	esac
}

tracers=event
if grep -qw function_graph "$tracing/available_tracers"; then
	tracers="event graph"
else
	skip "function_graph" "this kernel has no function_graph tracer"
fi
for other in $tracers; do
	for hook in kprobe switch; do
		kprobes=0
		[ "$other" != event ] || kprobes=1
		load "hook=$hook" check=1 || continue
		tracer "$other" on
		counted "$hook: $other begun while loaded"
		under "$hook: $other begun while loaded"
		grows "$hook: $other begun while loaded" "$other"
		tracer "$other" off
		counted "$hook: $other ended while loaded"
		hardly_late "$hook: $other ended while loaded"
		tracer "$other" on
		unload
		nothing_left "$hook: unload under $other" $kprobes
		grows "$hook: after the unload: $other" "$other"
		load "hook=$hook" check=1 || continue
		snap s
		is "$hook: loaded under $other: the hook that was asked for" "$(word s hook)" "$hook"
		counted "$hook: loaded under $other"
		under "$hook: loaded under $other"
		tracer "$other" off
		counted "$hook: loaded under $other that has ended"
		hardly_late "$hook: loaded under $other that has ended"
		unload
		nothing_left "$hook: $other ended, unload"
	done
done

is "tracing as it was" "$(cat $tracing/current_tracer) $(cat /proc/sys/kernel/ftrace_enabled) $(cat /sys/kernel/debug/kprobes/enabled) $(wc -l <$tracing/kprobe_events)" \
	"nop 1 1 0"
echo >"$tracing/trace"
rmmod wp_fixture
done_testing
