# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: who is preempted, yields, or is woken before he sleeps does not wait; who waits is not lost
# shellcheck source=tests/lib.sh
. ./lib.sh

# Field case B1. The works are done in windows of their own, where the waits of
# all user tasks are known to be their voluntary switches (tests/fixtures/window.c).

fixtures
modes=/sys/kernel/debug/sched/preempt
booted=$(sed -n 's/.*(\([a-z]*\)).*/\1/p' $modes 2>/dev/null)
# Where spinlocks sleep, their holder is preempted too, and so is nearly anybody.
rt=$(grep -s 1 /sys/kernel/realtime)
much=${rt:+0.4}
much=${much:-0.9}
ms=1000
[ "$(nproc)" -gt 1 ] || ms=300

# Whatever else may be on the stack of one who was preempted or has yielded.
phantoms='^(exit_to_user_mode.*|irqentry_.*|asm_.*|sysvec_.*|preempt_schedule.*|.*sched_yield|cond_resched.*|__cond_resched.*|do_syscall_64|invoke_syscall|do_el0_svc|el[01].*|syscall_exit_.*|entry_.*|wp_busy|wp_fx_(runnable|signal|early|preempted))$'

# phantom_free NAME [SWITCHES]: as many waits as voluntary switches, but for those
# that are no waits
phantom_free() {
	is "$1: waits of all user tasks" "$(user_waits w)" "$(($(of nvcsw) - ${2:-0}))"
	bad=$(LC_ALL=C awk -F '\t' -v bad="$phantoms" '/^[0-9a-f]+ HERE\t/ {
		fn = $5; sub(/[+ ].*/, "", fn); sub(/\..*/, "", fn)
		if (fn ~ bad) print $5 }' "$tmp/w")
	is "$1: no row of one who was only preempted" "$bad" ""
	is "$1: nothing lost" "$(word w no_slot) $(word w other)" "0 0"
}

# truth FUNCTION COLUMN
truth() { awk -v fn="$1" -v col="$2" '$1 == fn { print $col }' /proc/wp_fixture; }

# phantom HOOK MODE
phantom() {
	name="$1, preempt=$2"
	works hog 2 "$ms" 0 + hog 4 "$ms"
	is "$name: hogs do not sleep" "$(of inner hog)" 0
	holds "$name: hogs were preempted" "$(of nivcsw hog) >= 6"
	phantom_free "$name: hogs"

	works yield 2 2000 0 + rtyield 2 2000
	is "$name: yielders do not sleep" "$(of inner yield)" 0
	holds "$name: yielders gave way" "$(of nivcsw yield) + $(of nivcsw rtyield) >= 4000"
	phantom_free "$name: yielders"

	# The first has no signal that would be handled, only the mark of one.
	works put /proc/wp_fixture "signal 20 2" 0 + put /proc/wp_fixture "runnable 20 2" 0 + \
		put /proc/wp_fixture "early 20 2" 0 + hog 1 10 0
	is "$name: each call was made" "$(truth wp_fx_signal 6) $(truth wp_fx_runnable 6) $(truth wp_fx_early 6)" "20 20 20"
	# How often is for the scheduler to say; on a busy host 3 of 20 were seen.
	holds "$name: others ran meanwhile" "$(truth wp_fx_signal 7) >= 1 && $(of nivcsw put) >= 20"
	phantom_free "$name: no sleep in schedule" "$(truth wp_fx_signal 7)"

	# Preempted while the state is set: by the tick, and by one who comes often.
	works put /proc/wp_fixture "preempted 40 3" 0 + put /proc/wp_fixture "preempted_sleep 40 3" 0 + \
		rtsleep 1 500 + hog 1 10 0
	if [ "$2" = full ]; then
		holds "$name: preempted with a state set" "$(of nivcsw put) >= 100"
	fi
	is "$name: of those who then sleep, each sleeps once" \
		"$(sum w waits wp_fx_preempted_sleep) $(truth wp_fx_preempted_sleep 6)" "$(truth wp_fx_preempted_sleep 3) 40"
	is "$name: and each in its own class" "$(sum w waits wp_fx_preempted_sleep D user)" "$(truth wp_fx_preempted_sleep 3)"
	holds "$name: and nearly all of them" "$(truth wp_fx_preempted_sleep 3) >= 35"
	holds "$name: their sleep alone is counted" \
		"$(sum w total_ns wp_fx_preempted_sleep) <= $(truth wp_fx_preempted_sleep 4) - 40 * 3000000"
	phantom_free "$name: preempted with a state set"

	# Somewhere between the kprobe and the switch, too.
	# Three that come often, out of step. Who is preempted with the pipe's lock
	# held makes the other wait for that.
	works pipe 1000 + rtsleep 1 130 + rtsleep 1 170 + rtsleep 1 230
	pipe=$(sum w waits 'pipe_read|anon_pipe_read|pipe_write|anon_pipe_write')
	holds "$name: waits in the pipe${rt:+, or for a spinlock on the way}" \
		"$pipe <= $(of inner pipe) && $pipe + $(sum w waits '*' L user) >= $(of inner pipe)"
	holds "$name: nearly all for what is in it" \
		"$(sum w waits 'pipe_read|anon_pipe_read' S user) >= $(of inner pipe) * $much"
	holds "$name: both sides have waited" "$(of inner pipe) >= 1000"
	is "$name: waits of those in between" "$(sum w waits "$nanosleep")" "$(of inner rtsleep)"
	phantom_free "$name: preempted on the way to sleep"
	note "$name: $(word w late) sites found at the switch, $(of nivcsw pipe) times preempted"
	case $1-$2 in
	switch-*) is "$name: no site is late" "$(word w late)" 0 ;;
	kprobe-full) holds "$name: some were preempted behind the kprobe" "$(word w late) >= 1" ;;
	esac
}

for hook in kprobe switch; do
	load hook=$hook check=1 || continue
	# As booted; of the others, those that differ most.
	for mode in ${booted:-default} $(sed 's/([a-z]*)//' $modes 2>/dev/null); do
		case $hook-$mode in
		*-"$booted" | *-default | *-full | *-lazy | kprobe-none) ;;
		*) continue ;;
		esac
		[ "$mode" = default ] || echo "$mode" >$modes
		phantom $hook "$mode"
	done
	[ -z "$booted" ] || echo "$booted" >$modes
	snap s
	no_bad_sites $hook s
	memo_holds $hook s 1000
done
rmmod wp_fixture
done_testing
