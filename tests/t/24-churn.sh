# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: 100 loads and unloads under load, unloads with 200 tasks asleep and with readers at work
# shellcheck source=tests/lib.sh
. ./lib.sh

rounds=100

# busy: work of several kinds until idle; what is in the background stops by
# itself. With pauses: in a guest whose CPUs share one of the host's, four that
# are busy all the time leave the test nothing.
busy() {
	rm -f "$tmp/stop"
	for work in "pp pipe 50" "pp futex 50" "fork 5" "nanosleep 20 1" "hog 1 1 2"; do
		case $work in hog*) pause=3000000 ;; *) pause=50000 ;; esac
		# shellcheck disable=SC2086 # words
		while [ ! -e "$tmp/stop" ]; do
			wpfix $work
			usleep $pause
		done >/dev/null 2>&1 &
		jobs="$jobs $!"
	done
	while [ ! -e "$tmp/stop" ]; do
		for name in msleep completion mutex timeout_idle kthread; do
			echo "$name 2 5" >/proc/wp_fixture
		done
		echo clear >/proc/wp_fixture
	done &
	jobs="$jobs $!"
}
idle() {
	: >"$tmp/stop"
	# shellcheck disable=SC2086 # words
	wait $jobs
	jobs=''
}
jobs=''

# memory FILE: free or can be had back, unreclaimable slab, percpu; in KiB. What
# each CPU keeps at hand, some MiB, is free too.
memory() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk '/^(MemFree|Buffers|Cached|SReclaimable):/ { free += $2 }
		/^(SUnreclaim|Percpu):/ { v[$1] = $2 }
		$1 == "count:" { free += $2 * 4 }
		END { print free, v["SUnreclaim:"], v["Percpu:"] }' /proc/meminfo /proc/zoneinfo >"$tmp/$1"
}
# memory_back NAME: it is as it was before; what ended just now may take a while
memory_back() {
	for _try in 1 2 3 4 5 6 7 8; do
		memory after
		[ "$(nth before 1)" -gt $(($(nth after 1) + 2048)) ] || break
		sleep 1
	done
	note "$1: free, SUnreclaim, Percpu in KiB: before $(cat "$tmp/before"), after $(cat "$tmp/after")"
	holds "$1: memory is back, but for 2 MiB" "$(nth before 1) - $(nth after 1) < 2048"
	holds "$1: kernel objects are back, but for 1 MiB" "$(nth after 2) - $(nth before 2) < 1024"
	is "$1: percpu memory is back" "$(nth after 3)" "$(nth before 3)"
	awk '$3 ~ /^(0x)?[0-9a-f]+$/' /proc/vmallocinfo >"$tmp/orphans"
	[ ! -s "$tmp/orphans" ] || note "$(head -n1 "$tmp/orphans")"
	is "$1: no memory of vmalloc() whose owner is gone" "$(wc -l <"$tmp/orphans")" 0
}
# quiet NAME: the kernel has said nothing
quiet() { is "$1: nothing in the log" "$(log_since | grep -v 'drop_caches: 3')" ""; }
nth() { cut -d' ' -f"$2" "$tmp/$1"; }

# --- rounds of load, read, reset, unload (field case A7) ---------------------------

# churn ROUNDS: sets bad and longest
churn() {
	bad='' longest=0
	busy
	for round in $(seq "$1"); do
		hook=kprobe
		[ $((round % 2)) = 0 ] || hook=switch
		# Long grace periods and short ones.
		echo $((round / 2 % 2)) >/sys/kernel/rcu_expedited
		if ! wpfix insmod /waitprof/waitprof.ko "hook=$hook" >"$tmp/out"; then
			bad="$bad $round:$(tr '\t' ' ' <"$tmp/out")"
			continue
		fi
		snap s
		[ "$(word s hook)" = $hook ] || bad="$bad $round:$(word s hook)"
		reset || bad="$bad $round:reset"
		t=$(wpfix now)
		out=$(wpfix rmmod waitprof) || bad="$bad $round:$out"
		t=$(($(wpfix now) - t))
		[ "$t" -le "$longest" ] || longest=$t
		[ -z "$(cat /sys/kernel/debug/kprobes/list)" ] || bad="$bad $round:kprobes"
	done
	echo 0 >/sys/kernel/rcu_expedited
	idle
}

fixtures
log_mark
# What the first times take, the kernel may keep.
churn 6
memory before
churn $rounds
is "$rounds rounds under load: each loads, reads, resets, unloads" "$bad" ""
note "the longest rmmod took $((longest / 1000000)) ms"
holds "no rmmod took more than 10 s" "$longest < 10000000000"
nothing_left "after $rounds rounds"
quiet "$rounds rounds"
memory_back "$rounds rounds"

# --- unload with readers and writers at work ----------------------------------------

# pest COMMAND: again and again; /proc/waitprof is there or not
pest() {
	while [ ! -e "$tmp/stop" ]; do
		sh -c "$1" 2>/dev/null
		usleep 10000
	done >/dev/null &
	jobs="$jobs $!"
}
rm -f "$tmp/stop"
pest 'cat /proc/waitprof'
pest 'dd if=/proc/waitprof bs=17 count=50'
pest 'echo reset >/proc/waitprof'
pest 'echo off >/proc/waitprof; echo on >/proc/waitprof'
pest 'exec 3<>/proc/waitprof && echo reset >&3 && cat <&3'
bad='' again=0 reads=0
for round in $(seq 20); do
	hook=kprobe
	[ $((round % 2)) = 0 ] || hook=switch
	wpfix insmod /waitprof/waitprof.ko "hook=$hook" >"$tmp/out" || bad="$bad $round:$(cat "$tmp/out")"
	exec 7<>/proc/waitprof
	dd bs=64 count=1 <&7 2>/dev/null | grep -q '^# waitprof 1 ' && reads=$((reads + 1))
	until out=$(wpfix rmmod waitprof); do
		again=$((again + 1))
		[ $again -lt 1000 ] || break
		case $out in *EAGAIN | *EBUSY) ;; *) bad="$bad $round:$out" && break ;; esac
	done
	# The file is gone for those too that have it open.
	if cat <&7 >/dev/null 2>&1 || echo reset 2>/dev/null >&7; then bad="$bad $round:open"; fi
	exec 7>&-
done
idle
is "20 rounds with readers and writers: each loads and unloads" "$bad" ""
is "20 rounds with readers and writers: one could read each time" "$reads" 20
note "rmmod was told to come again $again times"
nothing_left "after readers and writers"
quiet "readers and writers"
memory_back "readers and writers"

# --- unload with tasks asleep (field cases A8, B2) ------------------------------------

mkfifo "$tmp/go"
# sleep_200 SECONDS: 160 tasks until they are woken, 40 until that time
sleep_200() {
	wpfix asleep 160 <"$tmp/go" >"$tmp/asleep" &
	many=$!
	exec 8>"$tmp/go"
	wpfix sleepers 40 "$1" 8>&- >"$tmp/sleepers" &
	timed=$!
	until grep -q ready "$tmp/asleep" && grep -q ready "$tmp/sleepers"; do sleep 0.1; done
	asleep_at=$(wpfix now)
}
# woken NAME: all 200, and their calls have ended as they should
woken() {
	exec 8>&-
	wait $many
	many=$?
	wait $timed
	is "$1: 200 tasks wake unharmed" "$many $? $(sed -n 's/^woken\t//p' "$tmp/asleep")" "0 0 160"
}
# gone NAME: unload, not waiting for the sleepers
gone() {
	t=$(wpfix now)
	unload
	t=$(($(wpfix now) - t))
	holds "$1: rmmod does not wait for the sleepers" "$t < 5000000000"
	nothing_left "$1"
}

for hook in kprobe switch; do
	sleep_200 8
	load hook=$hook
	sleep 0.3
	snap s
	holds "$hook: asleep at load: 200 in flight" "$(sum s in_flight '*' S user) >= 200"
	gone "$hook: asleep before the load"
	woken "$hook: asleep before the load, woken after the unload"

	load hook=$hook
	sleep_200 6
	sleep 0.3
	snap s
	holds "$hook: asleep while loaded: 200 in flight" "$(sum s in_flight '*' S user) >= 200"
	gone "$hook: asleep while loaded"
	woken "$hook: asleep while loaded, woken after the unload"

	load hook=$hook
	sleep_200 8
	sleep 3
	gone "$hook: asleep, load after load"
	since=$(wpfix now)
	load hook=$hook
	snap s
	since_in=$(($(wpfix now) - since))
	for site in locks_lock_inode_wait 'futex_wait|__futex_wait'; do
		is "$hook: load after load: in flight at $site" "$(sum s in_flight "$site")" 32
		holds "$hook: load after load: $site: for no longer than since the load" \
			"$(sum s oldest_ns "$site") <= $since_in && $(sum s in_flight_ns "$site") <= 32 * $since_in"
	done
	age=$(($(wpfix now) - asleep_at))
	woken "$hook: asleep, load after load"
	snap s
	since=$(($(wpfix now) - since))
	holds "$hook: load after load: they had been asleep for longer before" "$age - $since_in >= 2000000000"
	for site in locks_lock_inode_wait 'futex_wait|__futex_wait' 'pipe_read|anon_pipe_read' 'do_sys_poll|pipe_poll' "$nanosleep"; do
		n=$(sum s waits "$site")
		case $site in
		locks_* | futex_*) is "$hook: load after load: waits at $site" "$n" 32 ;;
		*) holds "$hook: load after load: waits at $site" "$n >= 32" ;;
		esac
		holds "$hook: load after load: $site: no wait counts from before the load" \
			"$(sum s max_ns "$site") <= $since && $(sum s total_ns "$site") <= $n * $since"
	done
	is "$hook: load after load: nothing lost" "$(word s no_slot) $(word s clock_steps)" "0 0"
	format_holds "$hook: load after load" s
	unload
done
quiet "tasks asleep"
rmmod wp_fixture
done_testing
