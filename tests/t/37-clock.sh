# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: the clock in use, and no time out of range where waits begin on one CPU and end on another
# shellcheck source=tests/lib.sh
. ./lib.sh

# Field case B4. To be run with a TSC that the kernel trusts (--icount, or --smp 4
# --append tsc=reliable) and with one that it does not (--smp 4).
fixtures
# A hypervisor has to promise that its TSC is constant and does not stop.
clock=sched
if dmesg | grep -qi 'tsc: Marking TSC unstable'; then
	clock=monotonic
elif [ "$(nproc)" -gt 1 ] && grep -qw hypervisor /proc/cpuinfo; then
	for flag in constant_tsc nonstop_tsc; do
		grep -qw $flag /proc/cpuinfo || clock=monotonic
	done
fi

# sane NAME FILE: no number that is a negative one in disguise, or a time of
# which there was not so much
sane() {
	is "$1: no number of 19 digits or more" "$(grep -oE '[0-9]{19,}' "$tmp/$2" | grep -vE '^f+')" ""
	is "$1: no wait is longer than the window" "$(per_row "$2" 'v["max_ns"] > window_ns')" ""
	is "$1: the run queue is a part of each wait" "$(per_row "$2" 'v["runq_ns"] > v["total_ns"]')" ""
	is "$1: no maximum is more than all" "$(per_row "$2" 'v["max_ns"] > v["total_ns"]')" ""
	holds "$1: clock_steps is shown" "\"$(word "$2" clock_steps)\" ~ /^[0-9]+\$/"
	if [ $clock = sched ]; then
		is "$1: a clock that is one for all CPUs makes no steps" "$(word "$2" clock_steps)" 0
	else
		holds "$1: steps are few" "$(word "$2" clock_steps) <= 200"
		note "$1: $(word "$2" clock_steps) steps"
	fi
}

for hook in kprobe switch; do
	load hook=$hook || continue
	snap s
	is "$hook: the clock, as the kernel trusts its TSC" "$(word s clock)" $clock

	# 4 sleepers: 20,000 wake-ups, each on the next CPU.
	works hop 5000
	is "$hook: waits that change CPU" "$(user_waits w)" "$(of nvcsw)"
	# Who is not yet asleep is moved by the CPU that he is on: his mover waits.
	moves=0
	for fn in affine_move_task __set_cpus_allowed_ptr __set_cpus_allowed_ptr_locked; do
		moves=$((moves + $(sum w waits $fn '*' user)))
	done
	pipe=$(sum w waits 'pipe_read|anon_pipe_read')
	truth=$(($(of inner hop) - moves))
	# With PREEMPT_RT a few are for a spinlock on the way.
	holds "$hook: waits in the pipe" "$pipe <= $truth && $pipe + $(sum w waits '*' L user) >= $truth"
	holds "$hook: there were many" "$pipe >= 15000"
	sane "$hook" w
	# Four sleepers and their mover, for no longer than the window each.
	holds "$hook: all waits fit in" "$(sum w total_ns 'pipe_read|anon_pipe_read') <= 5 * $(word w window_ns)"
	holds "$hook: and are no nothing" "$(sum w total_ns 'pipe_read|anon_pipe_read') >= $(word w window_ns)"

	# Against the clock of user space, by a sleeper that is moved.
	for _try in 1 2 3; do
		reset
		wpfix hop 200 10 >"$tmp/out"
		snap s
		read -r _what calls truth longest <"$tmp/out"
		count=$(nvcsw out)
		again "$truth" "$(sum s total_ns "$nanosleep")" "$count" "$(sum s waits "$nanosleep")" \
			"$(not_asleep out)" || break
	done
	# A timer that fires before its sleeper is asleep makes no wait.
	is "$hook: sleeps here and there" "$(sum s waits "$nanosleep")" "$count"
	holds "$hook: sleeps here and there: nearly all calls" "$calls == 200 && $count >= 194"
	is_time "$hook: sleeps here and there" "$truth" "$(sum s total_ns "$nanosleep")" "$count" "$(not_asleep out)"
	holds "$hook: sleeps here and there: the longest" "$(sum s max_ns "$nanosleep") <= $longest"
	sane "$hook: sleeps here and there" s

	# The window against the clock.
	t0=$(wpfix now)
	reset
	t1=$(wpfix now)
	sleep 1
	t2=$(wpfix now)
	snap s
	t3=$(wpfix now)
	holds "$hook: the window is as long as it was, to 1 in 1000" \
		"$(word s window_ns) >= ($t2 - $t1) * 0.999 && $(word s window_ns) <= ($t3 - $t0) * 1.001"
done
rmmod wp_fixture
done_testing
