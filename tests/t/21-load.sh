# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: parameters: what is refused leaves nothing; skip=, the least and the largest tables
# shellcheck source=tests/lib.sh
. ./lib.sh

fixtures
many=n01
for i in $(seq 2 40); do many=$many,n$i; done
atmost=m01
for i in $(seq 2 32); do atmost=$atmost,m$i; done

# The first load says that it taints; later ones say nothing.
load
unload

# Field case A7: a load that fails half-way
# refused PARAMETER: EINVAL, and one line in the log that has its name
refused() {
	name=$(echo "$1" | cut -c1-20)
	log_mark
	wpfix insmod /waitprof/waitprof.ko "$1" >"$tmp/out"
	is "$name: refused" "$(cat "$tmp/out")" "insmod	EINVAL"
	log_since >"$tmp/log"
	note "$(cat "$tmp/log")"
	is "$name: one line in the log" "$(wc -l <"$tmp/log")" 1
	is "$name: it names the module and what is wrong" \
		"$(grep -c "waitprof.*${1%%=*}" "$tmp/log")" 1
	nothing_left "$name"
	unload
}
for param in rows=0 rows=8193 rows=100000 rows=-1 slots=1 slots=63 slots=4194305 \
	slots=99999999 hook=foo hook= hook=kprobes rows=many check=perhaps; do
	refused "$param"
done
refused "skip=$many"

# loaded NAME WAITS: a load that works and counts, alone in its parameters
loaded() {
	name=$(echo "$1" | cut -c1-20)
	fixture msleep "$2" 3
	snap s
	format_holds "$name" s
	holds "$name: a wait is in its row, in (other) or in no_slot" \
		"$(sum s waits wp_fx_msleep) + $(word s no_slot) + $(word s other) >= $2"
}
for param in rows=1 rows=8192 slots=0 slots=64 slots=100 "skip=$atmost" hook=switch hook=kprobe check=1; do
	load "$param" || continue
	loaded "$param" 11
	case $param in
	rows=1)
		is "$param: one row and (other)" "$(word s rows) $(word s rows_used)" "1 1"
		holds "$param: the others are counted" "$(word s other) >= 11"
		is "$param: other= is what the row (other) has" "$(word s other)" "$(sum s waits '(other)')"
		;;
	rows=8192)
		is "$param: so many" "$(word s rows) $(word s other)" "8192 0"
		is "$param: counts" "$(sum s waits wp_fx_msleep)" 11
		;;
	slots=0) is "$param: one for 64 KiB, a power of two" "$(word s slots)" \
		"$(awk -v kb="$(word s total_kb)" 'BEGIN { for (n = 1024; n < kb / 64 && n < 65536; n *= 2); print n }')" ;;
	slots=64 | slots=100)
		is "$param: a power of two" "$(word s slots)" $((${param#*=} > 64 ? 128 : 64))
		wpfix sleepers 200 3 >/dev/null
		snap s
		holds "$param: too few for 200 sleepers: said" "$(word s no_slot) > 0"
		format_holds "$param: after that" s
		;;
	hook=*) is "$param: in use" "hook=$(word s hook)" "$param" ;;
	*) is "$name: counts" "$(sum s waits wp_fx_msleep)" 11 ;;
	esac
	unload
	nothing_left "$name"
done

# --- skip=: the row stands at the caller, as the kernel's own stack has it ---------

echo msleep 1 1500 >/proc/wp_fixture &
writer=$!
sleep 0.5
sed 's/^.*\] //; s/+.*//' "/proc/$writer/stack" >"$tmp/stack"
wait "$writer"
caller=$(sed -n '/^wp_fx_msleep$/{n;p;q}' "$tmp/stack")
beyond=$(sed -n "/^$caller\$/{n;p;q}" "$tmp/stack")
check "the stack of a sleeper has a caller, and one beyond" test -n "$caller" -a -n "$beyond"
for hook in kprobe switch; do
	load "hook=$hook" check=1 || continue
	fixture msleep 7 5
	snap s
	is "$hook: without skip=: at the function" "$(sum s waits wp_fx_msleep) $(sum s waits "$caller")" "7 0"
	load "hook=$hook" check=1 skip=wp_fx_msleep || continue
	fixture msleep 7 5
	snap s
	is "$hook: skip=: at its caller" "$(sum s waits wp_fx_msleep) $(sum s waits "$caller")" "0 7"
	load "hook=$hook" check=1 "skip=,nosuch,wp_fx_msleep,,$caller,wp_fx_usleep" || continue
	fixture msleep 7 5
	snap s
	is "$hook: skip= of several: at the caller's caller" \
		"$(sum s waits wp_fx_msleep) $(sum s waits "$caller") $(sum s waits "$beyond")" "0 0 7"
	is "$hook: skip=: others stay" "$(fixture completion 5 3; snap s; sum s waits wp_fx_completion)" 5
	is "$hook: no mismatches" "$(word s mismatches)" 0
done

# --- the parameters in sysfs ---------------------------------------------------------

load rows=100 slots=2048 hook=switch skip=one,two check=1
dir=/sys/module/waitprof/parameters
is "parameters" "$(cd $dir && echo *)" "alloc_depth alloc_paths check ftrace hook live maxactive objects peak_batch poll rows skip slots"
for want in rows=100 slots=2048 hook=switch skip=one,two check=Y; do
	file=$dir/${want%%=*}
	is "$want can be read" "$(cat "$file")" "${want#*=}"
	is "${want%%=*} is read-only" "$(stat -c %a "$file")" 444
	is "${want%%=*} cannot be written by root" \
		"$(sh -c "echo 1 >$file" 2>&1 | sed 's/.*: //')" "Permission denied"
done
for name in alloc_depth alloc_paths check ftrace hook live maxactive objects peak_batch rows skip slots; do
	check "modinfo tells $name, with its default" test -n \
		"$(modinfo /waitprof/waitprof.ko | grep "^parm: *$name:.*(default")"
done
unload
nothing_left "at the end"
rmmod wp_fixture
done_testing
