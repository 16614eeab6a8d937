# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: each allocation fails once, at load, at a read, at a command: nothing is left, and it is said
# shellcheck source=tests/lib.sh
. ./lib.sh
# shellcheck source=tests/debug.sh
. ./debug.sh

# range FUNCTION: its first address and that of the next one
range() {
	sort /proc/kallsyms | awk -v fn="$1" '
		at && $1 != at { print "0x" at, "0x" $1; exit } $3 == fn { at = $1 }'
}
# fail_in START END: what fails is an allocation that has a caller between the
# two; but not those of kmemleak, which does without
kmemleaks=$(range __alloc_object)
fail_in() {
	for dir in $debug/failslab $debug/fail_page_alloc; do
		echo 0 >"$dir/verbose"
		echo N >"$dir/ignore-gfp-wait"
		echo 32 >"$dir/stacktrace-depth"
		echo "$1" >"$dir/require-start"
		echo "$2" >"$dir/require-end"
		echo "${kmemleaks% *}" >"$dir/reject-start"
		echo "${kmemleaks#* }" >"$dir/reject-end"
	done
	echo N >$debug/fail_page_alloc/ignore-gfp-highmem
	echo 0 >$debug/fail_page_alloc/min-order
}
# fail_in_function NAME; fail_in_module
fail_in_function() {
	# shellcheck disable=SC2046 # two words
	fail_in $(range "$1")
}
fail_in_module() {
	# shellcheck disable=SC2046 # two words
	fail_in $(awk '$1 == "waitprof" { printf "%s %s\n", $6, $2 }' /proc/modules |
		while read -r at size; do printf '0x%x 0x%x\n' "$at" $((at + size)); done)
}

# sweep NAME: try N makes the Nth allocation of a call fail; for N = 1, 2, ...
# until none did. What the kernel said is then in $log; after_failed and
# after_done print what is wrong, and undo what was done.
sweep() {
	wrong='' failures=0 survived=0 n=0
	while [ $n -lt 3000 ]; do
		n=$((n + 1))
		outcome=$(try $n | cut -f2-)
		log=$(dmesg -c)
		case $outcome in
		"0	0") survived=$((survived + 1)) && after_done >"$tmp/why" ;;
		"0	"*) break ;;
		"ENOMEM	0") failures=$((failures + 1)) && after_failed >"$tmp/why" ;;
		*) echo "$outcome" >"$tmp/why" ;;
		esac
		echo "$log" | complaining >>"$tmp/why"
		[ ! -s "$tmp/why" ] || wrong="$wrong $n: $(cat "$tmp/why")"
	done
	note "$1: $failures failed, $survived did without"
	is "$1: what fails leaves nothing, and is said; what does not, works" "$wrong" ""
	after_done >"$tmp/why"
	is "$1: untouched, it works" "${outcome%%	*}$(cat "$tmp/why")" 0
}

vmalloc_kb() { awk '/^VmallocUsed:/ { print $2 }' /proc/meminfo; }

# --- loading ----------------------------------------------------------------

# said: what the module said, once for each try that failed
: >"$tmp/said"
after_failed() {
	gone
	line=$(echo "$log" | grep -o 'waitprof: .*')
	case $line in
	*"waitprof: "*"waitprof: "*) echo "$line" ;;
	"waitprof: not loaded: "*" (error -12)") echo "$line" >>"$tmp/said" ;;
	*) echo "said: $line" ;;
	esac
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
vmalloc=$(vmalloc_kb)
dmesg -c >/dev/null
fail_in_function do_one_initcall
for params in hook=kprobe "hook=switch live=map"; do
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
# Not MemFree: KASAN keeps what was freed in quarantine. Some stacks are kept for
# the next tasks.
note "vmalloc: before $vmalloc KiB, after $(vmalloc_kb) KiB"
holds "load: pages are back, but for some stacks" "$(vmalloc_kb) - $vmalloc <= 256"
is "load: no pages whose owner is gone" "$(awk '$3 ~ /^(0x)?[0-9a-f]+$/' /proc/vmallocinfo)" ""
no_leaks "load"

# --- reading, and commands ----------------------------------------------------

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
lockdep_on "at the end"
no_complaints "at the end"
done_testing
