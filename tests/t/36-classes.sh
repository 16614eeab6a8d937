# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: the class of a row is the letter of /proc/PID/stat while its task sleeps there
# shellcheck source=tests/lib.sh
. ./lib.sh

fixtures

# state PID: its letter and its number of switches
state() { echo "$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null) $(sed -n 's/^voluntary_ctxt_switches:\t//p' "/proc/$1/status" 2>/dev/null)"; }

# letters_hold NAME MINIMUM: of all rows with somebody in flight, the class and the
# letter of the oldest; who has woken meanwhile is left out
letters_hold() {
	snap a
	grep HERE "$tmp/a" | cut -f 5,6,7,15 | awk -F '\t' '$4' >"$tmp/oldest"
	same=0
	wrong=
	while IFS="$(printf '\t')" read -r site class tasks oldest; do
		echo "$oldest $(state "$oldest") $class $tasks $site"
	done <"$tmp/oldest" >"$tmp/states"
	snap b
	while read -r oldest letter switches class tasks site; do
		# The same sleep before and after the look?
		[ "$(state "$oldest")" = "$letter $switches" ] || continue
		[ "$(grep -F "	$site	$class	$tasks	" "$tmp/b" | cut -f15)" = "$oldest" ] || continue
		same=$((same + 1))
		[ "${class%io}" = "$letter" ] || wrong="$wrong $oldest:$site:$class:$letter"
		case "$oldest $(sed -n 's/^PPid:\t//p' "/proc/$oldest/status")" in
		"2 0" | *" 2") kind=kernel ;;
		*) kind=user ;;
		esac
		[ "$tasks" = "$kind" ] || wrong="$wrong $oldest:$site:$tasks:$kind"
	done <"$tmp/states"
	is "$1: class and tasks of each row are those of its oldest task" "$wrong" ""
	holds "$1: so many were compared" "$same >= $2"
}

# Field case B7: D and S, kernel and user are told apart.
# in_sleep FUNCTION CLASS TASKS WORDS: of a fixture that sleeps for 700 ms
in_sleep() {
	echo clear >/proc/wp_fixture
	(echo "$4" >/proc/wp_fixture) &
	sleeper=$!
	letter=
	for _try in 1 2 3 4 5 6 7 8 9 10; do
		sleep 0.1
		snap s
		pid=$(sum s oldest_pid "$1")
		letter=$(state "$pid")
		letter=${letter%% *}
		[ "$pid" = 0 ] || break
	done
	is "$hook: $1 in flight as $2 $3" "$(sum s in_flight "$1" "$2" "$3")" 1
	is "$hook: $1 in flight once" "$(sum s in_flight "$1")" 1
	is "$hook: $1: the letter of its task" "$letter" "${2%io}"
	[ "$3" = kernel ] || is "$hook: $1: its pid" "$pid" "$sleeper"
	wait $sleeper
	snap s
	is "$hook: $1 finished as $2 $3" "$(sum s waits "$1" "$2" "$3") $(sum s waits "$1")" "1 1"
}

for hook in kprobe switch; do
	load hook=$hook check=1 || continue
	letters_hold "$hook: at load" 8
	in_sleep wp_fx_timeout_interruptible S user "timeout_interruptible 1 700"
	in_sleep wp_fx_timeout_uninterruptible D user "timeout_uninterruptible 1 700"
	in_sleep wp_fx_killable D user "killable 700"
	in_sleep wp_fx_timeout_idle I user "timeout_idle 1 700"
	in_sleep wp_fx_io_schedule_timeout Dio user "io_schedule_timeout 1 700"
	in_sleep wp_fx_kthread D kernel "kthread 1 700"
	in_sleep wp_fx_kthread_idle I kernel "kthread_idle 1 700"
	in_sleep wp_fx_park P kernel "park 700"

	# Stopped by a signal.
	reset
	wpfix sleep1 60000 >"$tmp/sleep1" &
	pid=$!
	sleep 0.3
	kill -STOP $pid
	sleep 0.5
	snap s
	was=$(state $pid)
	is "$hook: stopped: its letter" "${was%% *}" T
	is "$hook: stopped: one row of that class, with its pid" \
		"$(sum s in_flight '*' T) $(sum s oldest_pid '*' T) $(sum s waits '*' T)" "1 $pid 0"
	note "$hook: stopped at $(per_row s 'v["class"] == "T"')"
	holds "$hook: stopped: since it was" "$(sum s oldest_ns '*' T) >= 300000000 && $(sum s oldest_ns '*' T) <= $(word s window_ns)"
	is "$hook: stopped: its sleep has ended" "$(sum s waits "$nanosleep" S user)" \
		"$((3 - $(sum s in_flight "$nanosleep")))"
	letters_hold "$hook: one stopped" 8
	kill -CONT $pid
	sleep 0.3
	snap s
	is "$hook: continued: counted once" "$(sum s waits '*' T user) $(sum s in_flight '*' T)" "1 0"
	was=$(state $pid)
	is "$hook: continued: asleep again" "${was%% *}" S
	kill -STOP $pid
	sleep 0.2
	kill -KILL $pid
	wait $pid 2>/dev/null
	snap s
	is "$hook: killed while stopped: counted" "$(sum s waits '*' T user) $(sum s in_flight '*' T)" "2 0"

	# Stopped by a tracer.
	for _try in 1 2 3; do
		reset
		wpfix traced 17 60 >"$tmp/traced" &
		tracer=$!
		sleep 0.4
		pid=$(head -n1 "$tmp/traced")
		for _look in 1 2 3 4 5; do
			snap s
			was=$(state "$pid")
			[ "$(sum s in_flight '*' t)" != 1 ] || break
		done
		wait $tracer
		snap w
		truth=$(sed -n 's/^traced\t17\t\([0-9]*\)\t.*/\1/p' "$tmp/traced")
		again "$truth" "$(sum w total_ns '*' t user)" 17 "$(sum w waits '*' t user)" || break
	done
	is "$hook: traced: in flight with its pid and its letter" \
		"$(sum s in_flight '*' t user) $(sum s oldest_pid '*' t) ${was%% *}" "1 $pid t"
	note "$hook: traced: stopped at $(per_row w 'v["class"] == "t"')"
	is "$hook: traced: each stop is one wait" "$(sum w waits '*' t user) $(sum w waits '*' t)" \
		"$(sed -n 's/^nvcsw\t\([0-9]*\)\t.*/\1/p' "$tmp/traced") 17"
	is_time "$hook: traced" "$truth" "$(sum w total_ns '*' t user)" 17
	letters_hold "$hook: at the end" 8
	no_bad_sites $hook w
	memo_holds $hook w 100
done
rmmod wp_fixture
done_testing
