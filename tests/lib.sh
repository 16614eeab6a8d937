# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# What the tests in t/ share. They run as root in a guest (tests/vm/run) under
# busybox, print TAP, and leave the module unloaded and the machine as it was.

: "${test_name:=test}"
tests=0
failed=0
tmp=${TMPDIR:-/tmp}/wp.$$
mkdir -p "$tmp"
trap 'rm -rf "$tmp"' EXIT

pass() {
	tests=$((tests + 1))
	echo "ok $tests - $test_name: $1"
}

# fail NAME [WHY]
fail() {
	tests=$((tests + 1))
	failed=$((failed + 1))
	echo "not ok $tests - $test_name: $1"
	[ -z "${2-}" ] || echo "# $2"
}

# skip NAME REASON: tests/skips must list it
skip() {
	tests=$((tests + 1))
	echo "ok $tests - $test_name: $1 # SKIP $2"
}

note() { echo "# $*"; }

# check NAME COMMAND...: the command's status
check() {
	check_name=$1
	shift
	if "$@"; then
		pass "$check_name"
	else
		fail "$check_name" "failed: $*"
	fi
}

# is NAME GOT WANTED
is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1" "got '$2', want '$3'"
	fi
}

# holds NAME EXPRESSION: of awk, numbers only
holds() {
	if awk "BEGIN { exit !($2) }"; then
		pass "$1"
	else
		fail "$1" "not true: $2"
	fi
}

# is_time NAME TRUTH_NS TOTAL_NS COUNT [BUSY_NS]: the bounds of a sum of COUNT
# waits. The truth is measured around the call that sleeps, so it is never the
# smaller. By the scheduler's word the sleeper was not asleep for BUSY_NS of it.
is_time() {
	holds "$1: 0 <= truth - total <= 1 % + 200 us each${5:+, but for the time not asleep}" \
		"$2 - $3 >= 0 && $2 - $3 <= $2 * 0.01 + 200000 * $4 + ${5:-0}"
}

# again TRUTH_NS TOTAL_NS COUNT WAITS [BUSY_NS]: is it worth another try? Only where all is
# right but that much time passed between the fixture's clock and its sleep:
# the host was busy. What is counted wrong is not tried again.
again() {
	[ "$3" = "$4" ] && awk "BEGIN { exit !($1 - $2 > $1 * 0.01 + 200000 * $3 + ${5:-0}) }"
}

# load [PARAMETERS...]: fresh, and tried once only
load() {
	unload
	wpfix insmod /waitprof/waitprof.ko "$@" >"$tmp/load" 2>&1 || {
		fail "load $*" "$(cat "$tmp/load")"
		return 1
	}
}

# shellcheck disable=SC2034 # where clock_nanosleep() waits; for the tests
case $(uname -m) in
aarch64) nanosleep=__arm64_sys_clock_nanosleep ;;
*) nanosleep=__x64_sys_clock_nanosleep ;;
esac

unload() {
	[ ! -d /sys/module/waitprof ] || rmmod waitprof
}

fixtures() { [ -d /sys/module/wp_fixture ] || insmod /waitprof/wp_fixture.ko; }

# fixture COMMAND...: run one, its truth replaces the truth before
fixture() {
	echo clear >/proc/wp_fixture
	echo "$*" >/proc/wp_fixture
}

# nvcsw FILE: voluntary switches in the calls of a command of wpfix
nvcsw() { awk '$1 == "nvcsw" { print $2 }' "$tmp/$1"; }

# not_asleep FILE: ns in those calls in which the command ran or was ready to run
not_asleep() { awk '$1 == "nvcsw" { print $6 }' "$tmp/$1"; }

reset() { echo reset >/proc/waitprof; }
snap() { cat /proc/waitprof >"$tmp/$1"; }

# word FILE KEY: of the headings
word() {
	awk -v key="$2" '/^# / { for (i = 2; i <= NF; i++) if (index($i, key "=") == 1)
		{ print substr($i, length(key) + 2); exit } }' "$tmp/$1"
}

# sum FILE COLUMN SITE [CLASS [TASKS]]: over the rows at a function; COLUMN as the
# heading has it, SITE without offset, several names separated by "|" where
# kernels differ, "*" for any
sum() {
	LC_ALL=C awk -F '\t' -v col="$2" -v site="$3" -v class="${4:-*}" -v tasks="${5:-*}" '
	/^# waits\t/ { for (i = 1; i <= NF; i++) c[$i] = i; next }
	/^[0-9a-f]+ HERE\t/ {
		fn = $c["site"]
		sub(/[+ ].*/, "", fn)
		if (site != "*" && !index("|" site "|", "|" fn "|")) next
		if (class != "*" && $c["class"] != class) next
		if (tasks != "*" && $c["tasks"] != tasks) next
		if (col ~ /^(max_ns|oldest_ns)$/) { if ($c[col] > n) n = $c[col] }
		else n += $c[col]
	}
	END { printf "%.0f\n", n }' "$tmp/$1"
}

# grown BEFORE AFTER COLUMN SITE [CLASS [TASKS]]
grown() {
	grown_a=$1
	grown_b=$2
	shift 2
	echo $(($(sum "$grown_b" "$@") - $(sum "$grown_a" "$@")))
}

# Field case B7. Sites that must never be seen: the scheduler, primitives, trampolines, idle.
bad_sites='^(schedule|__schedule|schedule_timeout|schedule_hrtimeout.*|schedule_preempt_disabled|schedule_timeout_.*|io_schedule.*|wait_for_completion.*|__wait_for_common|bit_wait.*|__wait_on_bit.*|out_of_line_wait_on_bit.*|folio_wait_bit.*|mutex_lock.*|__mutex_lock.*|rwsem_down_.*|down_(read|write).*|__down.*|down|down_(interruptible|killable|timeout)|rt_mutex_.*|msleep.*|usleep_range.*|do_nanosleep|hrtimer_nanosleep|wait_woken|prepare_to_wait.*|__wait_on_buffer|submit_bio_wait|futex_wait_queue.*|rt_spin_lock.*|rtlock_slow.*|rt_(read|write)_lock|rwbase_.*|schedule_rtlock|__local_bh_disable_ip|do_idle|cpu_startup_entry|swapper.*|schedule_idle|kretprobe_trampoline|__kretprobe_trampoline|arch_rethook_trampoline|ftrace_(trampoline|call|caller|regs.*|graph.*|stub|ops_.*)|return_to_handler|__traceiter_.*|waitprof_record_switch|ret_from_fork.*|0x.*)$'

# no_bad_sites NAME FILE
no_bad_sites() {
	bad=$(LC_ALL=C awk -F '\t' -v bad="$bad_sites" '/^[0-9a-f]+ HERE\t/ {
		fn = $5; sub(/[+ ].*/, "", fn); sub(/\..*/, "", fn)
		if (fn ~ bad || $5 == "(unknown)" || $5 == "(no symbol)") print $5 }' "$tmp/$2")
	is "$1: no row at a primitive, a trampoline or the idle loop" "$bad" ""
}

# memo_holds NAME FILE MINIMUM: the cross-check with the unwinder (check=1)
memo_holds() {
	note "$1: checked $(word "$2" checked) walks, $(word "$2" mismatches) mismatches, $(word "$2" memo_misses) misses"
	holds "$1: at least $3 walks checked, 0 mismatches" \
		"$(word "$2" checked) >= $3 && $(word "$2" mismatches) == 0"
}

# log_mark; log_since: what the kernel has said since, but for a timer that the host kept waiting
log_mark() {
	log_mark="wp-mark-$$-$(wpfix now)"
	echo "$log_mark" >/dev/kmsg
}
log_since() { dmesg | sed "1,/$log_mark/d; /hrtimer: interrupt took/d"; }

# nothing_left NAME [KPROBES]: of the module; KPROBES are those of others
nothing_left() {
	is "$1: nothing of the module is left" \
		"$([ ! -e /proc/waitprof ] || echo file) $(grep -c '^waitprof ' /proc/modules) $(wc -l </sys/kernel/debug/kprobes/list)" " 0 ${2:-0}"
}

# format_holds NAME FILE [again=1]: every line is as section "/proc/waitprof" has
# it; again=1: a module was loaded again, and its rows may be there more than once
format_holds() {
	bad=$(LC_ALL=C awk -v "${3:-again=0}" -v release="$(uname -r)" -f ./format.awk "$tmp/$2" 2>&1)
	is "$1: every line is well formed" "$bad" ""
}

# works WORK... (wpfix help): in a window of its own, which is then the file w
works() {
	[ ! -e /proc/wp_fixture ] || echo clear >/proc/wp_fixture
	wpfix window /proc/waitprof "$tmp/w" "$@" >"$tmp/tasks" || fail "wpfix window $*"
}

# of COLUMN [WORK]: the sum over those who did it, or over all and the command
# itself; columns are nvcsw, nivcsw, inner
of() {
	awk -v col="$1" -v work="${2-}" '$1 == "task" && (work == "" || $2 == work) {
		n += $(col == "nvcsw" ? 4 : col == "nivcsw" ? 5 : 6) } END { print n + 0 }' "$tmp/tasks"
}

# user_waits FILE: of all user tasks, but for those of the reset itself
user_waits() {
	LC_ALL=C awk -F '\t' '/^[0-9a-f]+ HERE\t/ && $7 == "user" && $5 !~ /\[waitprof\]$/ { n += $8 }
		END { print n + 0 }' "$tmp/$1"
}

# flights_hold NAME: as many waits in flight as there are tasks asleep, by /proc.
# Kernel threads come and go, with PREEMPT_RT at each tick: what counts is a moment
# in which none did.
flights_hold() {
	for _try in $(seq 30); do
		sleep 0.1
		cat /proc/[0-9]*/task/[0-9]*/stat >"$tmp/stat1" 2>/dev/null
		snap flights
		cat /proc/[0-9]*/task/[0-9]*/stat >"$tmp/stat2" 2>/dev/null
		asleep=$(sed 's/.*) //' "$tmp/stat1" | grep -c '^[^RZX]')
		flights=$(sum flights in_flight '*')
		[ "$asleep 0" = "$(sed 's/.*) //' "$tmp/stat2" | grep -c '^[^RZX]') $(word flights racing)" ] || continue
		[ "$asleep" != "$flights" ] || break
	done
	is "$1: as many waits in flight as tasks asleep" "$flights" "$asleep"
}

# per_row FILE EXPRESSION: the rows of which that is true, in awk, of the columns
# by name, v["waits"], and of window_ns
per_row() {
	LC_ALL=C awk -F '\t' '
	/^# waitprof / { window_ns = $0; sub(/.* window_ns=/, "", window_ns); sub(/ .*/, "", window_ns); window_ns += 0 }
	/^# waits\t/ { for (i = 4; i <= NF; i++) name[i] = $i; next }
	/^[0-9a-f]+ HERE\t/ {
		for (i = 4; i <= NF; i++) v[name[i]] = $i
		fn = $5
		sub(/[+ ].*/, "", fn)
		if ('"$2"') print $5, $6
	}' "$tmp/$1"
}

# kernel_fixture HOOK WORDS...: each truth line of a fixture against its row
kernel_fixture() {
	hook=$1
	shift
	for _try in 1 2 3; do
		reset
		fixture "$@"
		snap s
		cat /proc/wp_fixture >"$tmp/truth"
		read -r fn class count total _max _calls _nvcsw _tasks busy <"$tmp/truth"
		again "$total" "$(sum s total_ns "$fn" "$class")" "$count" \
			"$(sum s waits "$fn" "$class")" "$busy" || break
	done
	while read -r fn class count total max calls _nvcsw tasks busy; do
		if [ "$class" = - ]; then
			is "$hook $1: no wait" "$(sum s waits "$fn")" 0
			continue
		fi
		is "$hook $1: slept in each call" "$count" "$calls"
		is "$hook $1: waits at $fn, $class $tasks" "$(sum s waits "$fn" "$class" "$tasks")" "$count"
		is "$hook $1: and nowhere else" "$(sum s waits "$fn")" "$count"
		is_time "$hook $1" "$total" "$(sum s total_ns "$fn" "$class" "$tasks")" "$count" "$busy"
		holds "$hook $1: mean <= maximum <= truth" \
			"$(sum s max_ns "$fn") <= $max && $(sum s max_ns "$fn") * $count >= $(sum s total_ns "$fn")"
	done <"$tmp/truth"
}

# Last line of a test.
done_testing() {
	unload
	echo "1..$tests"
	exit $((failed > 0))
}
