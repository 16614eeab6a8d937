# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: waits in flight: seen while they last, then finished and never both; reset, off, on, load in their midst; an idle machine
# shellcheck source=tests/lib.sh
. ./lib.sh

fixtures
load check=1 || done_testing
fx=wp_fx_killable

# sleeper MS: in the background, as $sleeper; asleep when this returns
sleeper() {
	echo clear >/proc/wp_fixture
	begun=$(wpfix now)
	(echo "killable $1" >/proc/wp_fixture) &
	sleeper=$!
	until grep -q '^[0-9]* (.*) D' "/proc/$sleeper/stat"; do sleep 0.05; done
}

# row FILE: waits, in flight, total, in flight ns, oldest ns, oldest pid
row() { echo "$(sum "$1" waits $fx) $(sum "$1" in_flight $fx) $(sum "$1" total_ns $fx) $(sum "$1" in_flight_ns $fx) $(sum "$1" oldest_ns $fx) $(sum "$1" oldest_pid $fx)"; }
truth() { cut -f4 /proc/wp_fixture; }

# --- a sleep, looked at every 100 ms -----------------------------------------------

for _try in 1 2 3; do
	reset
	sleeper 2000
	: >"$tmp/polls"
	for _i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25; do
		from=$(wpfix now)
		snap p
		echo "$from $(wpfix now) $(word p racing) $(row p)" >>"$tmp/polls"
		sleep 0.1
	done
	wait $sleeper
	snap p
	again "$(truth)" "$(sum p total_ns $fx)" 1 "$(sum p waits $fx)" || break
done
# from to racing waits in_flight total in_flight_ns oldest_ns oldest_pid
is "each look finds the wait once, in flight or finished" \
	"$(awk '$4 + $5 != 1 && !($4 + $5 == 0 && $3)' "$tmp/polls")" ""
holds "in flight many times, then finished" \
	"$(grep -c ' 0 1 0 ' "$tmp/polls") >= 10 && $(awk '$4' "$tmp/polls" | wc -l) >= 1"
is "once finished it stays so" "$(awk '$4 { over = 1 } $5 && over' "$tmp/polls")" ""
is "in flight: its pid" "$(awk '$5 { print $9 }' "$tmp/polls" | sort -u)" "$sleeper"
is "in flight: the age is all in this window" "$(awk '$5 && $7 != $8' "$tmp/polls")" ""
is "in flight: the age grows as the clock does" "$(awk '$5 {
	if (age && ($8 - age < $1 - to || $8 - age > $2 - from)) print
	age = $8; from = $1; to = $2 }' "$tmp/polls")" ""
is "in flight: not older than the sleep" "$(awk -v begun="$begun" '$5 && $8 > $2 - begun' "$tmp/polls")" ""
is "finished: nothing is left in flight" "$(row p | cut -d' ' -f1,2,4-)" "1 0 0 0 0"
is_time "finished" "$(truth)" "$(sum p total_ns $fx)" 1
is "class and tasks" "$(sum p waits $fx D user)" 1

# --- many short sleeps, looked at as fast as can be -----------------------------------

reset
echo clear >/proc/wp_fixture
(echo "msleep 300 3" >/proc/wp_fixture) &
looks=0
: >"$tmp/looks"
while [ -e "/proc/$!/fd/0" ]; do
	cat /proc/waitprof >"$tmp/look"
	echo "$(sum look waits wp_fx_msleep) $(sum look in_flight wp_fx_msleep) $(word look racing)" >>"$tmp/looks"
	looks=$((looks + 1))
done
wait
snap p
# Begun waits never become fewer, unless one is left out that ended meanwhile.
is "$looks looks at short sleeps: none is lost or seen twice" "$(awk '{
	begun = $1 + $2
	if ($2 > 1 || $1 < waits || begun < last && !$3) print
	waits = $1
	last = begun }' "$tmp/looks")" ""
holds "short sleeps: seen in flight and finished" "$(awk '$2' "$tmp/looks" | wc -l) >= 5 && $looks >= 10"
# A timer that fires before its sleeper is asleep makes no wait.
is "short sleeps: all finished" "$(sum p waits wp_fx_msleep) $(sum p in_flight wp_fx_msleep)" "$(cut -f3 /proc/wp_fixture) 0"
holds "short sleeps: of nearly all calls" "$(cut -f3 /proc/wp_fixture) >= 290"

# --- a reset in its midst ---------------------------------------------------------------

for _try in 1 2 3; do
	reset
	sleeper 1500
	sleep 0.5
	exec 5<>/proc/waitprof
	echo reset >&5
	cat <&5 >"$tmp/closed"
	exec 5>&-
	sleep 0.3
	snap mid
	wait $sleeper
	snap end
	early=$(sum closed in_flight_ns $fx)
	again "$(truth)" $((early + $(sum end total_ns $fx))) 1 "$(sum end waits $fx)" || break
done
is "reset: the closed window has it in flight" "$(row closed | cut -d' ' -f1-3)" "0 1 0"
is "reset: in flight for all of the new window" "$(sum mid in_flight_ns $fx)" "$(word mid window_ns)"
is "reset: its true age is that of both windows" "$(sum mid oldest_ns $fx)" "$((early + $(sum mid in_flight_ns $fx)))"
is "reset: its pid" "$(sum mid oldest_pid $fx)" "$sleeper"
is "reset: finished once, in the new window" "$(row end | cut -d' ' -f1,2)" "1 0"
holds "reset: with less than the window" "$(sum end total_ns $fx) < $(word end window_ns) && $(sum end max_ns $fx) == $(sum end total_ns $fx)"
is_time "reset: both parts together" "$(truth)" $((early + $(sum end total_ns $fx))) 1

# --- off and on in its midst ---------------------------------------------------------------

for _try in 1 2 3; do
	wpfix now >"$tmp/w0"
	reset
	wpfix now >"$tmp/w1"
	sleeper 4000
	sleep 0.4
	t0=$(wpfix now)
	snap before
	echo off >/proc/waitprof
	t1=$(wpfix now)
	snap off
	sleep 0.3
	snap off2
	t2=$(wpfix now)
	echo on >/proc/waitprof
	t3=$(wpfix now)
	snap on
	t4=$(wpfix now)
	wait $sleeper
	snap end
	again "$(truth)" $((t3 - begun + $(sum end total_ns $fx))) 1 "$(sum end waits $fx)" || break
done
is "off: says so" "$(word off state) $(word before state)" "off on"
is "off: no wait goes on" "$(sum off in_flight '*') $(row off | cut -d' ' -f1,2)" "0 0 0"
holds "off: who slept is counted as cut" \
	"$(word before cut) == 0 && $(word off cut) >= $(sum before in_flight '*') - 5 && $(word off cut) <= $(sum before in_flight '*') + 5"
holds "off: with about the time slept" \
	"$(word off cut_ns) >= $(sum before in_flight_ns '*') * 0.9 && $(word off cut_ns) <= $(sum before in_flight_ns '*') + $(word off cut) * ($t1 - $t0)"
is "off: the window stands still" "$(word off2 window_ns) $(grep -v '^#' "$tmp/off2" | md5sum)" \
	"$(word off window_ns) $(grep -v '^#' "$tmp/off" | md5sum)"
holds "off: the window has ended there" \
	"$(word off window_ns) >= $t0 - $(cat "$tmp/w1") && $(word off window_ns) <= $t1 - $(cat "$tmp/w0")"
is "on: says so" "$(word on state)" on
is "on: the sleeper is found again" "$(row on | cut -d' ' -f1,2,6)" "0 1 $sleeper"
holds "on: its wait begins there" \
	"$(sum on oldest_ns $fx) >= 0 && $(sum on oldest_ns $fx) <= $t4 - $t2 && $(sum on in_flight_ns $fx) == $(sum on oldest_ns $fx)"
holds "on: the window goes on" \
	"$(word on window_ns) > $(word off window_ns) && $(word on window_ns) <= $(word off window_ns) + $t4 - $t2"
holds "on: the window goes on from where the sleepers do" \
	"$(word on window_ns) - $(word off window_ns) - $(sum on in_flight_ns $fx) <= 1000000"
holds "on: nobody has waited for longer than since then" \
	"$(sum on oldest_ns '*') <= $t4 - $t2"
is "on: what was cut stays cut" "$(word end cut)" "$(word off cut)"
is "on: the wait is counted once" "$(row end | cut -d' ' -f1,2)" "1 0"
holds "on: with the time since then" \
	"$(sum end total_ns $fx) <= $(truth) - ($t2 - $begun) + 200000000 && $(sum end total_ns $fx) >= $(truth) * 0.99 - 200000 - ($t3 - $begun)"
flights_hold "after off and on"

# --- asleep at load (field case B2) ------------------------------------------------------------

# in_flight FILE PID: is it seen?
site=$nanosleep
unload
begun=$(wpfix now)
wpfix sleep1 2500 >"$tmp/sleep1" &
sleep 1
pid=$(head -n1 "$tmp/sleep1")
t0=$(wpfix now)
load check=1
t1=$(wpfix now)
snap loaded
t2=$(wpfix now)
is "asleep at load: in flight, with its pid" "$(sum loaded waits $site) $(sum loaded in_flight $site) $(sum loaded oldest_pid $site)" "0 1 $pid"
holds "asleep at load: since the load" "$(sum loaded oldest_ns $site) <= $t2 - $t0 && $(sum loaded in_flight_ns $site) <= $(word loaded window_ns)"
is "asleep at load: nobody sleeps for longer" \
	"$(per_row loaded "v[\"oldest_ns\"] > $((t2 - t0)) || v[\"max_ns\"] > $((t2 - t0)) || v[\"in_flight_ns\"] > window_ns * v[\"in_flight\"]")" ""
wait
snap end
t3=$(wpfix now)
total=$(sum end total_ns $site)
is "asleep at load: counted once" "$(sum end waits $site) $(sum end in_flight $site)" "1 0"
holds "asleep at load: with the time since the load" \
	"$total <= $t3 - $t0 && $total >= $(sed -n 2p "$tmp/sleep1" | cut -f3) * 0.99 - 200000 - ($t1 - $begun)"
is "asleep at load: no wait is longer than the window" \
	"$(per_row end 'v["max_ns"] > window_ns || v["oldest_ns"] > '$((t3 - t0))' || v["total_ns"] > window_ns * 200')" ""
flights_hold "after a load"
no_bad_sites "after a load" end

# --- many asleep at one site, and one more (field case A2) ---------------------------------------

# 29 threads and their parent
wpfix sleepers 29 600 >"$tmp/sleepers" &
sleepers=$!
until grep -q ready "$tmp/sleepers"; do sleep 0.1; done
for _try in 1 2 3; do
	reset
	wpfix nanosleep 10 200 >"$tmp/out"
	snap more
	read -r _what count truth longest <"$tmp/out"
	again "$truth" "$(sum more total_ns $site)" "$count" "$(sum more waits $site)" "$(not_asleep out)" || break
done
is "30 asleep, and one more: each of its sleeps" "$(sum more waits $site) $count" "10 10"
is_time "30 asleep, and one more" "$truth" "$(sum more total_ns $site)" "$count" "$(not_asleep out)"
holds "30 asleep, and one more: the longest" "$(sum more max_ns $site) <= $longest"
is "30 asleep, and one more: they sleep on" "$(sum more in_flight $site)" 30
is "30 asleep, and one more: nothing lost" "$(word more no_slot) $(word more other)" "0 0"
kill "$sleepers"
wait "$sleepers" 2>/dev/null

# --- an idle machine (field case B3) ----------------------------------------------------------

sleep 0.5
reset
sleep 3
snap idle
tasks=$(cat /proc/[0-9]*/task/[0-9]*/stat 2>/dev/null | wc -l)
no_bad_sites "idle" idle
is "idle: no wait is longer than the window" "$(per_row idle 'v["max_ns"] > window_ns')" ""
holds "idle: all waits together are all tasks asleep, at most" \
	"$(sum idle total_ns '*') + $(sum idle in_flight_ns '*') <= ($tasks + 3) * $(word idle window_ns)"
holds "idle: and not much less" \
	"$(sum idle total_ns '*') + $(sum idle in_flight_ns '*') >= ($tasks - 3) * 0.9 * $(word idle window_ns)"
is "idle: nothing is in doubt" "$(word idle no_slot) $(word idle other) $(word idle late)" "0 0 0"
memo_holds "at the end" idle 50
rmmod wp_fixture
done_testing
