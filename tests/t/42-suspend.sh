# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: suspend to RAM, and the steps of suspend to idle: who sleeps through it, frozen tasks, the clock
# shellcheck source=tests/lib.sh
. ./lib.sh

monotonic() { wpfix now; }
uptime_ms() { awk '{ printf "%.0f\n", $1 * 1000 }' /proc/uptime; }

# through NAME COMMAND...: it is run while somebody sleeps
through() {
	name=$1
	shift
	begun=$(monotonic)
	reset
	fixture msleep 1 1
	echo "msleep 10 100" >/proc/wp_fixture &
	wpfix futex 20 100 >"$tmp/futex" &
	from=$(monotonic)
	booted=$(uptime_ms)
	"$@" >"$tmp/suspend" 2>&1 || fail "$name" "$(cat "$tmp/suspend")"
	to=$(monotonic)
	away=$(($(uptime_ms) - booted - (to - from) / 1000000))
	wait
	snap s
	note "$name: $(((to - from) / 1000000)) ms by CLOCK_MONOTONIC, asleep for another $away ms; clock=$(word s clock), window $(($(word s window_ns) / 1000000)) ms"
	is "$name: waits in the kernel, but where they were frozen" \
		"$(sum s waits wp_fx_msleep)" "$(awk '{ n += $3 } END { print n }' /proc/wp_fixture)"
	futex=$(sum s waits 'futex_wait|__futex_wait')
	truth=$(nvcsw futex)
	# Before 6.1 who is to freeze is woken for it, and sleeps elsewhere.
	holds "$name: waits at the futex" \
		"$futex <= $truth && $futex + $(sum s waits __refrigerator '*' user) >= $truth"
	is "$name: no number of 19 digits or more" "$(grep -oE '[0-9]{19,}' "$tmp/s" | grep -vE '^f+')" ""
	is "$name: no wait is longer than the window" "$(per_row s 'v["max_ns"] > window_ns')" ""
	is "$name: the run queue is a part of each wait" "$(per_row s 'v["runq_ns"] > v["total_ns"]')" ""
	is "$name: nothing lost" "$(word s no_slot) $(word s other)" "0 0"
	format_holds "$name" s
}

# shellcheck disable=SC2317 # called by through
suspend() {
	echo "$1" >/sys/power/pm_test
	echo freeze >/sys/power/state
	status=$?
	echo none >/sys/power/pm_test
	return "$status"
}

# really STATE SECONDS
# shellcheck disable=SC2317 # the same
really() {
	echo 0 >/sys/class/rtc/rtc0/wakealarm
	echo "+$2" >/sys/class/rtc/rtc0/wakealarm
	echo "$1" >/sys/power/state
}

fixtures
[ ! -e /sys/module/suspend/parameters/pm_test_delay ] || echo 1 >/sys/module/suspend/parameters/pm_test_delay
levels='devices platform'
case $(uname -r) in
7.3.*)
	levels=''
	skip "devices" "7.3 hangs when it suspends them, without the module as well"
	;;
esac
for hook in kprobe switch; do
	load hook=$hook check=1 || continue
	for level in freezer $levels; do
		through "$hook, $level" suspend "$level"
	done
	# To RAM: the machine has no alarm that ends a suspend to idle.
	if [ -n "$levels" ]; then
		through "$hook, suspended" really mem 4
		holds "$hook, suspended: the machine was away" "$away >= 1000"
		holds "$hook, suspended: the window does not have that time" \
			"$(word s window_ns) <= $(monotonic) - $begun"
	fi
	no_bad_sites "$hook" s
	memo_holds "$hook" s 50
done
rmmod wp_fixture
done_testing
