# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: poll and select: a wait counts at the poll method of the file that ended it, one that timed out at the waiting function
# shellcheck source=tests/lib.sh
. ./lib.sh

kinds="pipe unix unix_dgram tcp udp eventfd timerfd tty"

# at FILE COLUMN SITE: of the rows in which the fixtures can be
at() { sum "$1" "$2" "$3" S user; }

# waiting HOW: where it waits
waiting() { case $1 in *select) echo do_select ;; *) echo do_sys_poll ;; esac; }

# unseen FILE: wake-ups that were not charged to a method, as the report has it
unseen() { echo $(($(word "$1" poll_early) + $(word "$1" poll_missed))); }

# busy_host: is one of the kinds short of time only because the host was busy?
busy_host() {
	while read -r kind _count total switches busy; do
		! again "$total" "$(at s total_ns "${kind}_poll")" "$switches" \
			"$(at s waits "${kind}_poll")" "$busy" || return 0
	done <"$tmp/polled"
	return 1
}

# polled NAME HOW COUNT MS KIND...: each kind at its method; those that were woken
# just before they were asleep, and those that timed out, at the waiting function
polled() {
	name=$1 site=$(waiting "$2")
	shift
	for _try in 1 2 3 4 5; do
		reset
		wpfix polled "$@" >"$tmp/polled" || fail "$name: the fixture"
		snap s
		busy_host || break
	done
	charged=0 woken=0 left=0
	while read -r kind count total switches busy; do
		if [ "$kind" = timeout ]; then
			left=$switches
			continue
		fi
		got=$(at s waits "${kind}_poll")
		woken=$((woken + switches))
		charged=$((charged + got))
		holds "$name: $kind: of $count calls $switches slept, $got ended by ${kind}_poll" \
			"$got <= $switches && $switches - $got <= $(unseen s)"
		[ "$got" != "$switches" ] ||
			is_time "$name: $kind" "$total" "$(at s total_ns "${kind}_poll")" "$switches" "$busy"
	done <"$tmp/polled"
	holds "$name: methods, and wake-ups that found nobody asleep, are all" \
		"$charged <= $woken && $woken <= $charged + $(unseen s)"
	is "$name: the others at $site" "$(at s waits "$site")" "$((woken - charged + left))"
	holds "$name: nearly all at a method" "$charged >= $woken * 0.9"
	format_holds "$name" s
}

for set in "kprobe 1" "switch 1" "kprobe 0"; do
	hook="${set% *}, ftrace=${set#* }"
	load "hook=${set% *}" "ftrace=${set#* }" check=1 || continue
	snap s
	is "$hook: it is on" "$(word s poll)" on
	for how in poll ppoll select pselect; do
		# shellcheck disable=SC2086 # a list
		polled "$hook, $how" $how 45 2 $kinds timeout
	done
	polled "$hook, one file" poll 20 2 pipe
	# It has no pollwake(); the file that ended it is not known.
	reset
	# shellcheck disable=SC2086 # a list
	wpfix polled epoll 40 2 $kinds >"$tmp/polled"
	snap s
	is "$hook: epoll" "$(at s waits 'do_epoll_wait|ep_poll')" "$(awk '{ n += $4 } END { print n }' "$tmp/polled")"
	memo_holds "$hook" s 100
done

# --- on and off ------------------------------------------------------------------------

load check=1 poll=0 || done_testing
snap s
is "poll=0: off" "$(word s poll)" off
wpfix polled poll 10 2 pipe >/dev/null
snap s
is "off: nothing at a method" "$(at s waits pipe_poll) $(unseen s)" "0 0"
holds "off: all where they wait" "$(at s waits do_sys_poll) >= 9"
for text in poll "poll maybe" "poll on on" "poll  on" "poll on " "polloff"; do
	if echo "$text" 2>/dev/null >/proc/waitprof; then
		fail "'$text' is no command"
	else
		pass "'$text' is no command"
	fi
done
snap s
is "and changes nothing" "$(word s poll)" off
echo poll on >/proc/waitprof
echo poll on >/proc/waitprof
snap s
is "on: says so" "$(word s poll)" on
polled "on" poll 10 2 udp
# Switched off while they sleep: the method of that wake-up is not seen.
wpfix polled poll 1 1000 pipe >/dev/null &
sleep 0.5
echo poll off >/proc/waitprof
wait
snap s
is "off again: says so" "$(word s poll)" off
is "off again: a wait that was asleep ends where it waits" "$(at s waits pipe_poll)" 0
echo off >/proc/waitprof
echo poll on >/proc/waitprof
snap s
is "while all is off it is, too" "$(word s state) $(word s poll)" "off off"
echo on >/proc/waitprof
snap s
is "and comes with the rest" "$(word s state) $(word s poll)" "on on"
polled "on again" select 10 2 tcp

# --- a wait across the end of a window ---------------------------------------------------

reset
wpfix polled poll 1 1500 pipe >"$tmp/polled" &
sleep 0.7
snap s
is "asleep: in flight where it waits" "$(at s in_flight do_sys_poll) $(at s in_flight pipe_poll)" "1 0"
reset
wait
snap s
is "across a reset: at the method" "$(at s waits pipe_poll) $(at s waits do_sys_poll)" "1 0"
holds "across a reset: with what is of this window" \
	"$(at s total_ns pipe_poll) < $(word s window_ns) && $(at s total_ns pipe_poll) >= 300000000"

# --- many at one time --------------------------------------------------------------------

reset
for n in 1 2 3; do
	how=poll
	[ $n != 2 ] || how=select
	wpfix polled $how 1500 0 pipe udp eventfd unix >"$tmp/many.$n" 2>&1 &
done
wpfix hog 2 2 >/dev/null &
wait
snap s
woken=$(cat "$tmp"/many.* | awk '{ n += $4 } END { print n + 0 }')
charged=0
for kind in pipe udp eventfd unix; do
	charged=$((charged + $(at s waits ${kind}_poll)))
done
is "many: all ran" "$(cat "$tmp"/many.* | wc -l)" 12
all=$((charged + $(at s waits do_sys_poll) + $(at s waits do_select)))
# With PREEMPT_RT a few are for a spinlock on the way.
holds "many: each wait counts once" "$all <= $woken && $all + $(sum s waits '*' L user) >= $woken"
holds "many: methods, and wake-ups that found nobody asleep, are all" \
	"$woken >= 2000 && $woken <= $charged + $(unseen s)"
note "many: $woken waits, $charged at a method, $(word s poll_early) early, $(word s poll_missed) missed"
is "many: nothing lost" "$(word s no_slot) $(word s other) $(word s clock_steps)" "0 0 0"
flights_hold "at the end"
done_testing
