# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: each allocation and each registration fails once, at load, at a read, at a command: nothing is left, and it is said
# shellcheck source=tests/lib.sh
. ./lib.sh
# shellcheck source=tests/debug.sh
. ./debug.sh

debug=/sys/kernel/debug
proc=/proc/waitprof
# Small tables: each page of a large one would be a try of its own.
small="rows=8 slots=64 alloc_paths=8 objects=1024 maxactive=16"

# fail_in START END: what fails is an allocation that has a caller between the two
fail_in() {
	for dir in $debug/failslab $debug/fail_page_alloc; do
		echo 0 >"$dir/verbose"
		echo N >"$dir/ignore-gfp-wait"
		echo 32 >"$dir/stacktrace-depth"
		echo "$1" >"$dir/require-start"
		echo "$2" >"$dir/require-end"
	done
	echo N >$debug/fail_page_alloc/ignore-gfp-highmem
	echo 0 >$debug/fail_page_alloc/min-order
}
# fail_in_function NAME; fail_in_module
fail_in_function() {
	# shellcheck disable=SC2046 # two words
	fail_in $(sort /proc/kallsyms | awk -v fn="$1" '
		at && $1 != at { print "0x" at, "0x" $1; exit } $3 == fn { at = $1 }')
}
fail_in_module() {
	# shellcheck disable=SC2046 # two words
	fail_in $(awk '$1 == "waitprof" { printf "%s %s\n", $6, $2 }' /proc/modules |
		while read -r at size; do printf '0x%x 0x%x\n' "$at" $((at + size)); done)
}

# probes: kprobes that are in place, by name
probes() { awk '{ sub(/\+.*/, "", $3); print $3 }' $debug/kprobes/list | sort | tr '\n' ' '; }
# pairs: of a pair both, or none
pairs() {
	for pair in alloc_buffer_head:free_buffer_head bio_alloc_bioset:bio_put; do
		[ "$(probes | grep -cw "${pair%:*}")" = "$(probes | grep -cw "${pair#*:}")" ] || echo "half a pair: $pair"
	done
}
# gone: what should not be there when the module is not; $others are not its kprobes
others=''
gone() {
	[ ! -e $proc ] || echo "$proc is there"
	[ ! -e /sys/module/waitprof ] || echo "the module is there"
	[ "$(probes)" = "$others" ] || echo "kprobes: $(probes)"
}

# sweep NAME: try N makes the Nth allocation of a call fail; for N = 1, 2, ...
# until none did. What the kernel said is then in the file log; after_failed and
# after_done print what is wrong, and undo what was done.
sweep() {
	wrong='' failures=0 survived=0 n=0
	while [ $n -lt 3000 ]; do
		n=$((n + 1))
		outcome=$(try $n | cut -f2-)
		dmesg >"$tmp/log"
		case $outcome in
		"0	0") survived=$((survived + 1)) && why=$(after_done) ;;
		"0	"*) break ;;
		"ENOMEM	0") failures=$((failures + 1)) && why=$(after_failed) ;;
		*) why=$outcome ;;
		esac
		why="$why$(complaints)"
		[ -z "$why" ] || wrong="$wrong $n: $why"
		dmesg -c >/dev/null
	done
	note "$1: $failures failed, $survived did without"
	is "$1: what fails leaves nothing, and is said; what does not, works" "$wrong" ""
	is "$1: untouched, it works" "${outcome%%	*}$(after_done)" 0
}

# --- loading ----------------------------------------------------------------

# readable: what is wrong with the file
readable() {
	snap s
	LC_ALL=C awk -v release="$(uname -r)" -f ./format.awk "$tmp/s" 2>&1
}
# said: what the module said, once for each try that failed
: >"$tmp/said"
after_failed() {
	gone
	grep -o 'waitprof: .*' "$tmp/log" >"$tmp/line"
	if [ "$(wc -l <"$tmp/line")" = 1 ] && grep -q '^waitprof: not loaded: .* (error -12)$' "$tmp/line"; then
		cat "$tmp/line" >>"$tmp/said"
	else
		cat "$tmp/line"
	fi
}
after_done() {
	readable
	pairs
	unload
	gone
}

no_complaints "before"
load && unload
leaks_forget
free=$(awk '/^MemFree:/ { print $2 }' /proc/meminfo)
fail_in_function do_one_initcall
for params in hook=kprobe hook=switch "hook=kprobe live=map"; do
	try() {
		# shellcheck disable=SC2086 # words
		wpfix insmod -n "$1" /waitprof/waitprof.ko $small $params
	}
	sweep "load with $params"
done
sort "$tmp/said" | uniq -c | sort -rn | while read -r line; do note "$line"; done
for what in "no memory for the tables" "no memory for the slots" "no memory for the call paths" \
	"no memory for the objects" "cannot probe sched_switch" "cannot make /proc/waitprof"; do
	holds "load: it was said: $what" "$(grep -c "not loaded: $what " "$tmp/said") > 0"
done
check "memory is back, but for 2 MiB" [ \
	$((free - $(awk '/^MemFree:/ { print $2 }' /proc/meminfo))) -lt 2048 ]
no_leaks "load"

# --- reading, and commands ----------------------------------------------------

# now: what must be as it was when a call fails: state, resets, objects, kprobes
now() {
	readable
	pairs
	echo "$(word s state) $(word s resets) $(awk '/^# callers/ { exit } at { print $1 } /^# objects/ { at = 1 }' "$tmp/s" | tr '\n' ' ') $(probes)"
}
after_failed() { [ "$(now)" = "$before" ] || echo "before: $before, now: $(now)"; }
after_done() {
	case $what in
	"readwrite reset")
		before=$(now)
		[ "$(word s resets)" = $((resets + 1)) ] || echo "no reset"
		resets=$(word s resets)
		;;
	"write on") [ "$(now | cut -d' ' -f1)" = on ] && echo off >$proc ;;
	"write track"*) now | grep -qw "$object" && echo "untrack $object" >$proc ;;
	esac
	after_failed
}
for params in live=count live=map; do
	# shellcheck disable=SC2086 # words
	load $small $params || continue
	for what in open read "readwrite reset" "write on" "write track one vfs_read" "write track pair vfs_read vfs_write"; do
		case $what in
		read) fail_in_function seq_read_iter ;;
		*) fail_in_module ;;
		esac
		[ "$what" != "write on" ] || echo off >$proc
		object=$(echo "$what" | cut -d' ' -f3)
		before=$(now)
		resets=$(word s resets)
		try() { wpfix failnth "$1" "${what%% *}" $proc "${what#* }"; }
		sweep "$params: $what"
		[ "$what" != "write on" ] || echo on >$proc
	done
	unload
	is "$params: nothing is left" "$(gone)" ""
done
no_leaks "reading, and commands"

# --- what is registered is refused ----------------------------------------------

inject=$debug/fail_function
insmod /waitprof/wp_inject.ko
echo 0 >$inject/verbose
echo 100 >$inject/probability
echo 1 >$inject/interval

# refuse FUNCTION N: its Nth call from now fails, once
refuse() {
	echo >$inject/inject
	echo "$1" >$inject/inject
	others=$(probes)
	echo "$2" >$inject/space
	echo 1 >$inject/times
	dmesg -c >/dev/null
}
# refused NAME: it came to that
refused() { is "$1: it was refused" "$(cat $inject/times)" 0; }

# not_loaded FUNCTION N WHY ERROR
not_loaded() {
	refuse "$1" "$2"
	name="$1, call $2"
	# shellcheck disable=SC2086 # words
	is "$name: load fails" "$(wpfix insmod /waitprof/waitprof.ko $small)" "insmod	$4"
	refused "$name"
	is "$name: and says why" "$(dmesg | sed -n 's/.*\(waitprof: \)/\1/p')" "waitprof: not loaded: $3"
	is "$name: nothing is left" "$(gone)" ""
}
not_loaded register_module_notifier 1 "cannot watch for modules that go (error -22)" EINVAL
not_loaded register_module_notifier 2 "cannot watch for modules that come (error -22)" EINVAL
not_loaded tracepoint_probe_register 1 "cannot probe sched_switch (error -22)" EINVAL
not_loaded proc_create 1 "cannot make /proc/waitprof (error -12)" ENOMEM

# note_of OBJECT: what the report says of it
note_of() { snap s && objects_row "$1" note; }
objects_row() { awk -F '\t' -v o="$1" -v col="$2" '
	/^# objects/ { for (i = 2; i <= NF; i++) c[$i] = i } $1 == o && NF > 5 { print $c[col] }' "$tmp/s"; }

# A function that cannot be probed is done without; what it is for is said.
# refused_probe FUNCTION N PARAMETERS HOOK OBJECT NOTE
refused_probe() {
	refuse "$1" "$2"
	name="$1, call $2, $3"
	# shellcheck disable=SC2086 # words
	load $small $3 || return
	refused "$name"
	is "$name: it works" "$(readable)$(pairs)" ""
	is "$name: hook" "$(word s hook) $(word s hook_why)" "$4"
	[ -z "$5" ] || is "$name: note" "$(note_of "$5")" "$6"
	[ -z "$5" ] || is "$name: a number that cannot be had" "$(objects_row "$5" allocs)" n/a
	is "$name: the module says nothing" "$(dmesg | grep -c 'waitprof:')" 0
	unload
	is "$name: nothing is left" "$(gone)" ""
}
refused_probe register_kprobe 1 hook=kprobe "switch kprobe-refused"
n=0
for pair in buffer_head:alloc_buffer_head buffer_head:free_buffer_head bio:bio_alloc_bioset bio:bio_put; do
	n=$((n + 1))
	refused_probe register_kprobe $n hook=switch "switch " "${pair%:*}" "no kprobe on ${pair#*:}: error -22"
	refused_probe register_kprobe $((n + 1)) hook=kprobe "kprobe " "${pair%:*}" "no kprobe on ${pair#*:}: error -22"
done
refused_probe register_kretprobe 1 live=map "kprobe " buffer_head "no kprobe on alloc_buffer_head: error -22"
refused_probe register_kretprobe 2 live=map "kprobe " bio "no kprobe on bio_alloc_bioset: error -22"

# shellcheck disable=SC2086 # words
load $small
for n in 1 2; do
	refuse register_kprobe $n
	before=$(now)
	is "track, call $n refused: EINVAL" "$(sh -c "echo track pair vfs_read vfs_write >$proc" 2>&1 | sed 's/.*: //')" "Invalid argument"
	refused "track, call $n"
	is "track, call $n refused: nothing has changed" "$(now)" "$before"
done
for n in 1 2; do
	refuse register_kprobe $n
	insmod /waitprof/wp_raw.ko
	refused "a module comes, call $n"
	is "a module comes, call $n refused: note" "$(note_of kiobuf)" \
		"no kprobe on $([ $n = 1 ] && echo alloc || echo free)_kiovec: error -22"
	is "a module comes, call $n refused: no half a pair" "$(probes | grep -c kiovec)" 0
	rmmod wp_raw
done
insmod /waitprof/wp_raw.ko
is "it comes again: both" "$(note_of kiobuf)" "alloc_kiovec [wp_raw],free_kiovec [wp_raw]"
rmmod wp_raw

echo off >$proc
refuse tracepoint_probe_register 1
before=$(now)
is "on, tracepoint refused: EINVAL" "$(sh -c "echo on >$proc" 2>&1 | sed 's/.*: //')" "Invalid argument"
refused "on, tracepoint"
is "on, tracepoint refused: nothing has changed" "$(now)" "$before"
refuse register_kprobe 1
echo on >$proc
refused "on, kprobe"
is "on, kprobe refused: on, as switch" "$(readable)$(word s state) $(word s hook) $(word s hook_why)" "on switch kprobe-refused"
echo off >$proc
echo on >$proc
is "off and on: as it was asked for" "$(readable)$(word s state) $(word s hook)" "on kprobe"
unload
is "commands refused: nothing is left" "$(gone)" ""

echo >$inject/inject
rmmod wp_inject
no_complaints "what is registered is refused"
no_leaks "what is registered is refused"
lockdep_on "at the end"
done_testing
