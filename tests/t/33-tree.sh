# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: a tree of tasks against the kernel's own accounts of each: getrusage, schedstat, the clock
# shellcheck source=tests/lib.sh
. ./lib.sh

# By how much a sum of waits may differ from the accounts of the scheduler, for
# each wait. Those take the time at the beginning of schedule(), waitprof at the
# switch itself; what lies between is slow in a guest, slower on more CPUs, and
# slowest where a timer's interrupt comes first: hence two bounds.
if [ "$(nproc)" -gt 1 ]; then
	bound=20000 bound_nanosleep=60000
else
	bound=2500 bound_nanosleep=4000
fi

# account KIND: over the tasks of a kind: nvcsw nivcsw, time off the CPU, run delay,
# and from the window's beginning until the task was through its first barrier
account() {
	awk -v kind="$1" -v window="$(word w window_ns)" '
	$1 == "window" { begun = $2 - window }
	$1 == "task" && $3 ~ "^wpt-" {
		n++
		barrier += $14 - begun
		if ($3 !~ "^wpt-" kind) next
		v += $4; iv += $5; off += $8 - $6; delay += $7
	}
	END { printf "%d %d %.0f %.0f %.0f\n", v, iv, off, delay, kind == "futex" ? barrier : 0 }' "$tmp/tree"
}

# asleep KIND SITE: the time asleep by the accounts, and by the rows: neither has
# anything to do with who was preempted
asleep() {
	account "$1" >"$tmp/account"
	each=$bound
	[ "$1" != nanosleep ] || each=$bound_nanosleep
	read -r v iv off delay barrier <"$tmp/account"
	truth=$((off - delay))
	waits=$(sum w waits "$2")
	total=$(sum w total_ns "$2")
	runq=$(sum w runq_ns "$2")
}

# near KIND SITE BARRIERS: do its bounds in time hold? If not, the host may have been
# busy: it is tried again.
near() {
	asleep "$1" "$2"
	awk "BEGIN {
		e = $each * $waits; b = 5000000 * $3
		off = $total - $off - $barrier
		asleep = $total - $runq - $truth - $barrier
		queued = $runq - $delay
		exit !(off <= e && ($iv || off >= -e - b) &&
			asleep <= 2 * e && asleep >= -2 * e - b &&
			queued <= e + b && ($iv || queued >= -e))
	}"
}

for hook in kprobe switch; do
	load hook=$hook check=0 || continue
	for _try in 1 2 3 4 5; do
		wpfix tree 2 /proc/waitprof "$tmp/w" >"$tmp/tree"
		near nanosleep "$nanosleep" 0 && near pipe "pipe_read|anon_pipe_read" 0 &&
			near futex "futex_wait|__futex_wait" 5 && break
	done
	is "$hook: five tasks" "$(grep -c 'wpt-' "$tmp/tree")" 5
	self=$(awk '$1 == "task" && $2 == "self" { print $4 }' "$tmp/tree")
	# Each wakes from its first barrier once.
	is "$hook: waits of all user tasks" "$(user_waits w)" \
		$((self + 5 + $(awk '$3 ~ "^wpt-" { n += $4 } END { print n }' "$tmp/tree")))
	is "$hook: waits of the command itself" "$(sum w waits 'do_sys_poll|pipe_poll' S user)" "$self"
	for kind in "nanosleep $nanosleep 0" "pipe pipe_read|anon_pipe_read 0" "futex futex_wait|__futex_wait 5"; do
		site=${kind#* }
		barriers=${site#* }
		site=${site%% *}
		kind=${kind%% *}
		asleep "$kind" "$site"
		# With PREEMPT_RT some of them are for a lock on the way.
		locks=$(sum w waits 'pipe_write|anon_pipe_write' D user)
		locks=$((locks + $(sum w waits '*' L user)))
		holds "$hook, $kind: waits" "$waits <= $v + $barriers && $waits + $locks >= $v + $barriers"
		holds "$hook, $kind: there are many" "$v >= 100"
		# With nobody preempted, off the CPU is waiting.
		holds "$hook, $kind: all waits are off the CPU, within $each ns each" \
			"$total <= $off + $barrier + $each * $waits"
		if [ "$iv" = 0 ]; then
			holds "$hook, $kind: off the CPU is waiting, within $each ns each" \
				"$total >= $off + $barrier - $each * $waits - 5000000 * $barriers"
		fi
		holds "$hook, $kind: time asleep, within two times $each ns each" \
			"$total - $runq <= $truth + $barrier + 2 * $each * $waits && \
			$total - $runq >= $truth + $barrier - 2 * $each * $waits - 5000000 * $barriers"
		# The run delay of who was preempted is in the account alone.
		holds "$hook, $kind: time on the run queue, within $each ns each" \
			"$runq <= $delay + $each * $waits + 5000000 * $barriers && ($iv > 0 || $runq >= $delay - $each * $waits)"
		note "$hook, $kind: $waits waits, $iv preemptions; off the CPU $off + $barrier, waits $total; run delay $delay, in rows $runq"
	done
	is "$hook: nobody else has waited" "$(per_row w 'v["waits"] && v["tasks"] == "user" &&
		fn !~ /^(do_sys_poll|pipe_poll|'"$nanosleep"'|(anon_)?pipe_(read|write)|(__)?futex_wait)$/ && v["class"] != "L" && v["site"] !~ /\[waitprof\]$/')" ""
	is "$hook: nothing lost" "$(word w no_slot) $(word w other) $(word w clock_steps)" "0 0 0"
done
done_testing
