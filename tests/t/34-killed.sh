# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: killed in their sleep, forked and gone, moved from CPU to CPU: each wait once, and no slot is left behind
# shellcheck source=tests/lib.sh
. ./lib.sh

fixtures

# killed KIND SITE CLASS: a hundred, once each
killed() {
	for _try in 1 2 3; do
		wpfix killed "$1" 100 200 /proc/waitprof "$tmp/w" >"$tmp/out"
		truth=$(sed -n "s/^$1\t100\t\([0-9]*\)\t.*/\1/p" "$tmp/out")
		longest=$(sed -n "s/^$1\t100\t[0-9]*\t\([0-9]*\)$/\1/p" "$tmp/out")
		again "${truth:-0}" "$(sum w total_ns "$2")" 100 "$(sum w waits "$2")" || break
	done
	is "$hook, $1: each of a hundred that were killed is counted once" \
		"$(sum w waits "$2" "$3" user) $(sum w waits "$2")" "100 100"
	is "$hook, $1: they are no longer in flight" "$(sum w in_flight "$2")" "$at_rest"
	is_time "$hook, $1: with the time until then" "${truth:-0}" "$(sum w total_ns "$2")" 100
	holds "$hook, $1: each has slept" "${truth:-0} >= 100 * 200000000"
	holds "$hook, $1: the longest" "$(sum w max_ns "$2") <= ${longest:-0} && $(sum w max_ns "$2") >= ${truth:-0} / 101"
	flights_hold "$hook, $1: afterwards"
}

for hook in kprobe switch; do
	load hook=$hook check=1 || continue
	flights_hold "$hook: after the load"
	snap s
	at_rest=0
	killed nanosleep "$nanosleep" S
	killed killable wp_fx_killable D
	at_rest=$(sum s in_flight 'pipe_read|anon_pipe_read')
	killed pipe 'pipe_read|anon_pipe_read' S

	reset
	wpfix fork 500 >"$tmp/out"
	snap s
	is "$hook: 500 forks" "$(cut -f1,2 "$tmp/out" | head -n1)" "fork	500"
	holds "$hook: forks: their parent has waited" "$(sum s waits do_wait) >= 100"
	is "$hook: forks: nothing lost" "$(word s no_slot) $(word s other) $(word s clock_steps)" "0 0 0"
	flights_hold "$hook: after 500 forks"

	# Field case B5. To get to another CPU is a wait, too, and not at this site.
	for _try in 1 2 3; do
		reset
		wpfix hop 1000 2 >"$tmp/out"
		snap s
		read -r _what calls truth longest <"$tmp/out"
		count=$(nvcsw out)
		again "$truth" "$(sum s total_ns "$nanosleep")" "$count" "$(sum s waits "$nanosleep")" \
			"$(not_asleep out)" || break
	done
	# A timer that fires before its sleeper is asleep makes no wait.
	is "$hook: sleeps on one CPU and another" "$(sum s waits "$nanosleep")" "$count"
	holds "$hook: sleeps on one CPU and another: nearly all calls" "$calls == 1000 && $count >= 970"
	is_time "$hook: sleeps on one CPU and another" "$truth" "$(sum s total_ns "$nanosleep")" "$count" "$(not_asleep out)"
	holds "$hook: sleeps on one CPU and another: the longest" "$(sum s max_ns "$nanosleep") <= $longest"
	flights_hold "$hook: at the end"
	is "$hook: no wait is longer than the window" "$(per_row s 'v["max_ns"] > window_ns')" ""
	memo_holds $hook s 300
done
rmmod wp_fixture
done_testing
