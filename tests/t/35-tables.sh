# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: full tables: a site has all of its waits in its row or all in (other); who found no slot is counted, and nobody else suffers
# shellcheck source=tests/lib.sh
. ./lib.sh

fixtures
site=$nanosleep

# kernel_switches: voluntary ones of all kernel threads
kernel_switches() {
	cat /proc/[0-9]*/status 2>/dev/null | awk '
		/^Pid:/ { pid = $2 } /^PPid:/ { kernel = $2 == 2 || pid == 2 }
		/^voluntary_ctxt_switches:/ && kernel { n += $2 } END { print n + 0 }'
}

# many COUNT MS: 40 functions in a window of their own. Leaves in $tmp/rows for
# each: function, waits and time of the truth, waits and time of its row.
many() {
	for _try in 1 2 3; do
		kernel=$(kernel_switches)
		works put /proc/wp_fixture "many $1 $2"
		kernel=$(($(kernel_switches) - kernel))
		while read -r fn _class count total _; do
			echo "$fn $count $total $(sum w waits "$fn") $(sum w total_ns "$fn")"
		done </proc/wp_fixture >"$tmp/rows"
		again "$(awk '$4 { n += $3 } END { print n + 0 }' "$tmp/rows")" "$(awk '$4 { n += $5 } END { print n + 0 }' "$tmp/rows")" \
			"$(awk '$4 { n += $2 } END { print n + 0 }' "$tmp/rows")" "$(awk '{ n += $4 } END { print n + 0 }' "$tmp/rows")" || break
	done
}

# judge NAME
judge() {
	here=$(awk '$4' "$tmp/rows" | wc -l)
	missing=$(awk '!$4 { n += $2 } END { print n + 0 }' "$tmp/rows")
	missing_ns=$(awk '!$4 { n += $3 } END { print n + 0 }' "$tmp/rows")
	all=$(awk '{ n += $2 } END { print n + 0 }' "$tmp/rows")
	# Of the user tasks: all waits, and those that have rows. The reset's own
	# are in neither, and may be in (other).
	users=$(($(of nvcsw) - $(user_waits w)))
	is "$1: 40 functions" "$(wc -l <"$tmp/rows")" 40
	is "$1: a function with a row has all of its waits there" "$(awk '$4 && $4 != $2' "$tmp/rows")" ""
	is "$1: and all of its time" "$(awk '$4 && ($3 - $5 < 0 || $3 - $5 > $3 * 0.01 + $2 * 200000)' "$tmp/rows")" ""
	is "$1: other= is the row (other)" "$(word w other)" "$(sum w waits '(other)')"
	holds "$1: (other) has those without a row" "$(sum w waits '(other)') >= $missing && \
		$(sum w total_ns '(other)') >= $missing_ns * 0.99 - $missing * 200000"
	holds "$1: rows and (other) are all waits, but for $kernel of the kernel's threads" \
		"$(sum w waits '(other)') >= $users && $(sum w waits '(other)') <= $users + $kernel + 4"
	is "$1: hist of (other)" "$(sed -n 's/.*\t(other)\t.*\t//p' "$tmp/w" | tr ',' '\n' | awk -F : '{ n += $2 } END { print n + 0 }')" \
		"$(sum w waits '(other)')"
	format_holds "$1" w
	note "$1: $here of 40 functions have rows; (other) $(sum w waits '(other)'), missing $missing of $all"
}

# --- rows (field case B6) --------------------------------------------------------------

load rows=8 check=1 || done_testing
many 10 2
judge "8 rows"
is "8 rows: rows=" "$(word w rows) $(word w rows_used)" "8 8"
holds "8 rows: most functions have none" "$here <= 8"
# One that comes late and takes most of the time.
for _try in 1 2 3; do
	snap a
	fixture msleep 23 100
	snap b
	read -r _fn _class count truth _ </proc/wp_fixture
	again "$truth" "$(grown a b total_ns '(other)')" "$count" "$(grown a b waits '(other)')" || break
done
is "8 rows: a late site has no row" "$(sum b waits wp_fx_msleep)" 0
holds "8 rows: but its waits and its time are in (other)" \
	"$(grown a b waits '(other)') >= $count && $(grown a b total_ns '(other)') >= $truth * 0.99 - 200000 * $count"
holds "8 rows: and among the first" "$(grep HERE "$tmp/b" | grep -n '(other)' | cut -d: -f1) <= 3"

# As many rows as all else needs, and a few for the 40.
load check=1
many 1 1
flights_hold "768 rows"
fixture kthread 3 3
snap s
enough=$(($(word s rows_used) - 40))
is "768 rows: all 40 functions have one" "$(awk '$4' "$tmp/rows" | wc -l)" 40
is "768 rows: nothing in (other)" "$(word s other)" 0
load rows=$((enough + 14)) check=1
flights_hold "$((enough + 14)) rows"
many 1 1
many 10 2
judge "$((enough + 14)) rows"
holds "some functions have rows, and some have none" "$here >= 5 && $here <= 35"
is "rows are not given back" "$(word w rows_used)" $((enough + 14))

# --- slots -------------------------------------------------------------------------------

# load_slots N: and how many were asleep before and after
load_slots() {
	unload
	cat /proc/[0-9]*/task/[0-9]*/stat >"$tmp/stat" 2>/dev/null
	before=$(sed 's/.*) //' "$tmp/stat" | grep -c '^[^RZX]')
	load slots="$1" check=1
	snap loaded
	is "$1 slots: slots=" "$(word loaded slots)" "$1"
}

wait_ready() { until grep -qs ready "$tmp/sleepers"; do sleep 0.1; done; sleep 0.3; }

# More asleep at load than there are slots: 100 of the test's own are.
wpfix sleepers 100 3 >"$tmp/sleepers" &
wait_ready
load_slots 64
# Kernel threads that have one may wake meanwhile.
holds "64 slots: all are taken at load" "$(sum loaded in_flight '*') >= 64 - 3 && $(sum loaded in_flight '*') <= 64"
holds "64 slots: each of $before asleep at load who found none is counted" \
	"$(word loaded no_slot) >= $before - 64 - 3"
wait

# Fewer asleep at load, but 200 more come.
load_slots 128
holds "128 slots: room enough at load" "$(sum loaded in_flight '*') < 128 && $(word loaded no_slot) == 0"
wpfix sleepers 200 4 >"$tmp/sleepers" &
wait_ready
cat /proc/[0-9]*/task/[0-9]*/stat >"$tmp/stat" 2>/dev/null
snap a
tasks=$(sed 's/.*) //' "$tmp/stat" | grep -c '^[^RZX]')
flights=$(sum a in_flight $site)
holds "128 slots, 200 sleepers: all slots are taken" "$(sum a in_flight '*') >= 125 && $(sum a in_flight '*') <= 128"
# The command itself sleeps with its 200 threads.
holds "128 slots, 200 sleepers: the others are counted" \
	"$(word a no_slot) >= 201 - $flights && $(word a no_slot) + $(sum a in_flight '*') >= $tasks - 3"
wait
snap b
is "128 slots: those with a slot have finished" "$(sum b waits $site) $(sum b in_flight $site)" \
	"$(($(sum a waits $site) + flights)) 0"
is "128 slots: no wait is longer than the window" "$(per_row b 'v["max_ns"] > window_ns')" ""
holds "128 slots: nobody has waited for longer than they slept" "$(sum b max_ns $site) <= 4100000000"
works sleep 4 25 2000
is "128 slots: afterwards all is as before" "$(sum w waits $site) $(word w no_slot)" "$(of inner sleep) 0"
is "128 slots: afterwards all is as before: waits of all user tasks" "$(user_waits w)" "$(of nvcsw)"
memo_holds "128 slots" w 100

load slots=1024 check=1
flights_hold "1024 slots"
sleepers=$((922 - asleep))
wpfix sleepers $sleepers 25 >"$tmp/sleepers" &
wait_ready
snap a
is "1024 slots, nine of ten taken: all are in flight" "$(sum a in_flight $site)" $((sleepers + 1))
holds "1024 slots: nine of ten" "$(sum a in_flight '*') >= 915 && $(sum a in_flight '*') <= 930"
flights_hold "1024 slots, nine of ten taken"
for name in pipe sock futex; do
	wpfix pp $name 500 >/dev/null
done
for _try in 1 2 3; do
	fixture wait_event 23 7
	snap b
	read -r _fn _class count truth _ </proc/wp_fixture
	again "$truth" "$(sum b total_ns wp_fx_wait_event)" "$count" "$(sum b waits wp_fx_wait_event)" || break
	reset
done
is "1024 slots: waits beside them" "$(sum b waits wp_fx_wait_event)" "$count"
is_time "1024 slots: waits beside them" "$truth" "$(sum b total_ns wp_fx_wait_event)" "$count"
snap a
is "1024 slots: they still sleep" "$(sum a in_flight $site)" $((sleepers + 1))
wait
snap b
is "1024 slots: all have finished" "$(($(sum b waits $site) - $(sum a waits $site))) $(sum b in_flight $site)" "$((sleepers + 1)) 0"
is "1024 slots: none was without" "$(word b no_slot)" 0
flights_hold "1024 slots, afterwards"
rmmod wp_fixture
done_testing
