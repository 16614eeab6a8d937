# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: sites in modules that come and go: rows keep their names, none gets another's waits
# shellcheck source=tests/lib.sh
. ./lib.sh

# wp_twin has the code of wp_gone under other names: where it is loaded at the
# same address, its return address is the very one that wp_gone had.
rounds=10

# at MODULE: the address it is loaded at
at() { awk -v m="$1" '$1 == m { print $6 }' /proc/modules; }

# sites FILE FUNCTION: the names of its rows, without offsets, each once
sites() { awk -F '\t' -v fn="$2" '/ HERE\t/ && index($5, fn "+") == 1 { sub(/\+[^ ]*/, "", $5); print $5 }' "$tmp/$1" | sort -u; }

# all three: waits of the rows of wp_gone, wp_twin and wp_fixture's
three() { echo "$(sum s waits wp_gone_sleep D user) $(sum s waits wp_twin_sleep D user) $(sum s waits wp_fx_usleep)"; }

for hook in kprobe switch; do
	load "hook=$hook" check=1 || continue
	# Others at the same time, whose walks go through the same memo.
	(while :; do
		wpfix pp pipe 100
		wpfix fork 20
	done) >/dev/null 2>&1 &
	load=$!
	gone=0 twin=0 fixture=0 same=0 moved=0 last='' wrong=''
	for round in $(seq $rounds); do
		insmod /waitprof/wp_gone.ko
		here=$(at wp_gone)
		[ -z "$last" ] || [ "$last" = "$here" ] || moved=$((moved + 1))
		last=$here
		echo 7 2 >/proc/wp_gone
		gone=$((gone + $(cut -f3 /proc/wp_gone)))
		snap s
		[ "$(three)" = "$gone $twin $fixture" ] || wrong="$wrong $round:slept:$(three | tr ' ' /)"
		rmmod wp_gone
		snap s
		[ "$(three)" = "$gone $twin $fixture" ] || wrong="$wrong $round:gone:$(three | tr ' ' /)"
		[ "$(sites s wp_gone_sleep)" = "wp_gone_sleep [wp_gone]" ] || wrong="$wrong $round:name:$(sites s wp_gone_sleep)"

		# Into its place.
		case $((round % 3)) in
		0)
			modprobe loop
			dd if=/dev/zero of="$tmp/disk" bs=64k count=4 2>/dev/null
			losetup /dev/loop0 "$tmp/disk" && dd if=/dev/loop0 of=/dev/null bs=4k 2>/dev/null
			losetup -d /dev/loop0
			snap s
			rmmod loop
			rm "$tmp/disk"
			;;
		1)
			insmod /waitprof/wp_twin.ko
			[ "$(at wp_twin)" != "$here" ] || same=$((same + 1))
			echo 5 2 >/proc/wp_twin
			twin=$((twin + $(cut -f3 /proc/wp_twin)))
			snap s
			rmmod wp_twin
			;;
		2)
			fixtures
			fixture usleep 3 2
			fixture=$((fixture + $(cut -f3 /proc/wp_fixture)))
			snap s
			rmmod wp_fixture
			;;
		esac
		[ "$(three)" = "$gone $twin $fixture" ] || wrong="$wrong $round:other:$(three | tr ' ' /)"
	done
	kill $load
	wait $load 2>/dev/null
	is "$hook: $rounds rounds: each row its own module's waits, and the name it had" "$wrong" ""
	note "$hook: wp_twin at the address of wp_gone $same times, wp_gone at another than before $moved times"
	holds "$hook: an address was used again by another module" "$same >= 1"
	snap s
	holds "$hook: there was something to be seen" "$gone > 50 && $twin > 15 && $fixture > 6"
	is "$hook: names" "$(sites s wp_gone_sleep), $(sites s wp_twin_sleep), $(sites s wp_fx_usleep)" \
		"wp_gone_sleep [wp_gone], wp_twin_sleep [wp_twin], wp_fx_usleep [wp_fixture]"
	format_holds "$hook" s again=1
	no_bad_sites "$hook" s
	memo_holds "$hook" s 500

	# A reset takes the rows of what has gone from the report, and keeps the rest right.
	reset
	snap s
	is "$hook: after a reset they are gone" "$(three)" "0 0 0"
	insmod /waitprof/wp_gone.ko
	echo 7 2 >/proc/wp_gone
	gone=$(cut -f3 /proc/wp_gone)
	snap s
	is "$hook: and come again" "$(three)" "$gone 0 0"
	# Removed while loaded, seen by nobody: off, then on.
	echo off >/proc/waitprof
	rmmod wp_gone
	insmod /waitprof/wp_twin.ko
	echo on >/proc/waitprof
	echo 5 2 >/proc/wp_twin
	twin=$(cut -f3 /proc/wp_twin)
	snap s
	is "$hook: gone while off: no waits to the other" "$(three)" "$gone $twin 0"
	is "$hook: gone while off: no mismatches" "$(word s mismatches)" 0
	rmmod wp_twin
done
done_testing
