# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: each registration is refused once, at load and at a command: nothing is left, and it is said
# shellcheck source=tests/lib.sh
. ./lib.sh
# shellcheck source=tests/debug.sh
. ./debug.sh

inject=$debug/fail_function
no_complaints "before"
leaks_forget
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

# not_loaded FUNCTION N WHY ERROR (field case A7)
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
	case $6 in
	"no probe"*) is "$name: a number that cannot be had" "$(objects_row "$5" allocs)" n/a ;;
	esac
	is "$name: the module says nothing" "$(dmesg | grep -c 'waitprof:')" 0
	unload
	is "$name: nothing is left" "$(gone)" ""
}
refused_probe register_kprobe 1 hook=kprobe "switch kprobe-refused"
refused_probe register_kprobe 2 hook=kprobe "kprobe "
# Behind schedule and rt_mutex_schedule, if those are asked for.
n=0
for pair in buffer_head:alloc_buffer_head buffer_head:free_buffer_head bio:bio_alloc_bioset bio:bio_put; do
	n=$((n + 1))
	refused_probe register_kprobe $n hook=switch "switch " "${pair%:*}" "no probe on ${pair#*:}: error -22"
	refused_probe register_kprobe $((n + 2)) hook=kprobe "kprobe " "${pair%:*}" "no probe on ${pair#*:}: error -22"
done
# Behind alloc_kiovec and alloc_kiobuf_bhs, the module's own functions: whether
# probes are reached is not known then.
for n in 7 8 9; do
	refused_probe register_kprobe $n hook=switch "switch " buffer_head alloc_buffer_head,free_buffer_head
done
refused_probe register_kretprobe 1 live=map "kprobe " buffer_head "no probe on alloc_buffer_head: error -22"
refused_probe register_kretprobe 2 live=map "kprobe " bio "no probe on bio_alloc_bioset: error -22"

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
		"no probe on $([ $n = 1 ] && echo alloc || echo free)_kiovec: error -22"
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
no_leaks "at the end"
lockdep_on "at the end"
no_complaints "at the end"
done_testing
