# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: windows read and reset under load: their sum is the truth, whatever lies across their ends
# shellcheck source=tests/lib.sh
. ./lib.sh

fixtures
win=$tmp/win

# command WORDS: of the fixture module, in the background
command_bg() { (echo "$1" >/proc/wp_fixture) & }

# noise WORDS: of wpfix. It gives way: who is preempted between his clock and his
# sleep does not wait.
noise() {
	# shellcheck disable=SC2016 # for the other shell
	sh -c 'renice -n 19 -p $$ >/dev/null; exec wpfix "$@"' sh "$@" >/dev/null &
}

# over FUNCTION[|FUNCTION]: sums over all windows: waits, total_ns, in_flight_ns of closed
# ones, and in how many windows it was in flight all the time
over() {
	LC_ALL=C awk -F '\t' -v site="$1" '
	/^# waitprof / { window = $0; sub(/.* window_ns=/, "", window); sub(/ .*/, "", window) }
	/^[0-9a-f]+ HERE\t/ {
		fn = $5; sub(/[+ ].*/, "", fn)
		if (!index("|" site "|", "|" fn "|")) next
		waits += $8; total += $9; flight += $13
		if ($12 == 1 && $8 == 0 && $13 == window) whole++
	}
	END { printf "%.0f %.0f %.0f %d\n", waits, total, flight, whole }' "$win"/*
}

# heads KEY: of each window, in order
heads() { sed -n "s/^# .* $1=\([^ ]*\).*/\1/p; s/^# lost $1=\([^ ]*\).*/\1/p" "$win"/*; }

# windows NAME SECONDS MS: what was begun in the background runs beside it
windows() {
	rm -rf "$win"
	mkdir "$win"
	from=$(wpfix now)
	reset
	begun=$(wpfix now)
	wpfix readreset /proc/waitprof "$win" "$2" "$3" >/dev/null &
	reader=$!
	sleep 0.1
	echo clear >/proc/wp_fixture
	command_bg "msleep 61 11"
	command_bg "wait_event 47 13"
	command_bg "kthread 43 13"
	command_bg "io_schedule_timeout 29 20"
	command_bg "killable 1500"
	wpfix poll 23 25 >"$tmp/poll" &
	noise pp pipe 3000
	noise pp futex 1000
	noise fork 60
	noise hog 1 2
	# The reader goes on until all of them are through.
	wait
	ended=$(wpfix now)
	# What has not ended by the last reset stands in the window that runs now.
	cat /proc/waitprof >"$win/9999"
	[ ! -e "/proc/$reader" ] || fail "$1: the reader is still there"
}

# judge FUNCTION COUNT TRUTH BUSY: among so many others that run
judge() {
	over "$1" >"$tmp/over"
	read -r waits total flight _whole <"$tmp/over"
	is "$name: $1: waits over all windows" "$waits" "$2"
	is_time "$name: $1: finished and straddling parts together" "$3" $((total + flight)) "$2" "$4"
}

# busy: is one of the fixtures short of time only because the host was busy?
busy() {
	read -r _what _calls truth _ <"$tmp/poll"
	over 'do_sys_poll|pipe_poll' >"$tmp/over"
	read -r waits total flight _whole <"$tmp/over"
	count=$(nvcsw poll)
	! again "$truth" $((total + flight)) "$count" "$waits" "$(not_asleep poll)" || return 0
	while read -r fn _class count truth _max _calls _nvcsw _tasks busy; do
		over "$fn" >"$tmp/over"
		read -r waits total flight _whole <"$tmp/over"
		! again "$truth" $((total + flight)) "$count" "$waits" "$busy" || return 0
	done </proc/wp_fixture
	return 1
}

for set in "kprobe 4 100" "kprobe 4 1" "switch 4 20"; do
	hook=${set%% *}
	ms=${set##* }
	name="$hook, windows of $ms ms"
	load hook="$hook" check=1 || continue
	for _try in 1 2 3 4 5; do
		windows "$name" 4 "$ms"
		busy || break
	done
	is "$name: all fixtures ran" "$(wc -l </proc/wp_fixture)" 5
	while read -r fn _class count truth _max _calls _nvcsw _tasks busy; do
		judge "$fn" "$count" "$truth" "$busy"
	done </proc/wp_fixture
	# A poll that finds its data there already does not wait.
	read -r _what _calls truth _ <"$tmp/poll"
	count=$(nvcsw poll)
	holds "$name: polls have waited" "$count >= 15"
	judge "do_sys_poll|pipe_poll" "$count" "$truth" "$(not_asleep poll)"
	over wp_fx_killable >"$tmp/over"
	read -r _waits _total _flight whole <"$tmp/over"
	holds "$name: one sleep lay across several windows" "$whole >= 3"
	files=$(find "$win" -type f | wc -l)
	holds "$name: many windows" "$files >= 20"
	is "$name: resets rise by one" "$(heads resets | awk 'NR > 1 && $1 != last + 1 { print last, $1 } { last = $1 }')" ""
	# The last is no closed window; and this one and that before are whole.
	is "$name: closed windows have no race" "$(heads racing | sed '$d' | grep -vx 0)" ""
	holds "$name: windows add up to the time from one end to another" "$(heads realtime | awk '
		NR == 1 { split($1, a, ".") } { split($1, b, ".") }
		END { printf "%.0f", (b[1] - a[1]) * 1000000000 + b[2] - a[2] }') - $(heads window_ns |
		awk 'NR > 1 { n += $1 } END { printf "%.0f", n }') < 1000000 + $files * 1000 && $(heads window_ns |
		awk '{ n += $1 } END { printf "%.0f", n }') <= $(wpfix now) - $from && $(heads window_ns |
		awk '{ n += $1 } END { printf "%.0f", n }') >= $ended - $begun"
	is "$name: no wait is longer than its window" "$(for file in "$win"/*; do
		per_row "${file#"$tmp/"}" 'v["max_ns"] > window_ns + 1000000'
	done)" ""
	is "$name: nothing lost" "$(heads no_slot | sort -u) $(heads other | sort -u)" "0 0"
	holds "$name: every window has its rows" "$(grep -c HERE "$win"/* | awk -F : '$2 < 10 { n++ } END { print n + 0 }') == 0"
	format_holds "$name: the first window" "win/0000"
	format_holds "$name: the last closed window" "win/$(printf %04d $((files - 2)))"
	memo_holds "$name" win/9999 1000
	note "$name: $files windows, mean $(heads window_ns | awk '{ n += $1 } END { print n / NR / 1000000 }') ms"
done
rmmod wp_fixture
done_testing
