# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# What the tests of objects share. They source lib.sh first.
# shellcheck disable=SC2154 # tmp is of lib.sh

cpus=$(nproc)

# object FILE COLUMN NAME: of the section of objects; empty if there is no such row
object() {
	LC_ALL=C awk -F '\t' -v col="$2" -v name="$3" '
	/^# / { in_it = $1 == "# objects"; if (in_it) for (i = 2; i <= NF; i++) c[$i] = i; next }
	in_it && $1 == name { print $c[col]; exit }' "$tmp/$1"
}

# objects FILE NAME: allocs, frees, live, failed, older_frees
objects() {
	echo "$(object "$1" allocs "$2") $(object "$1" frees "$2") $(object "$1" live "$2") $(object "$1" failed "$2") $(object "$1" older_frees "$2")"
}

# callers FILE COLUMN NAME [PATTERN]: the sum over its paths that match; n/a if
# one of them is
callers() {
	LC_ALL=C awk -F '\t' -v col="$2" -v name="$3" -v pattern="${4-.}" '
	/^# / { in_it = $1 == "# callers"; if (in_it) for (i = 2; i <= NF; i++) c[$i] = i; next }
	in_it && $2 == name && $c["path"] ~ pattern { if ($c[col] == "n/a") na = 1; n += $c[col] }
	END { print na ? "n/a" : sprintf("%.0f", n) }' "$tmp/$1"
}

# paths FILE NAME [PATTERN]: without offsets, each once
paths() {
	LC_ALL=C awk -F '\t' -v name="$2" -v pattern="${3-.}" '
	/^# / { in_it = $1 == "# callers"; next }
	in_it && $2 == name && $5 ~ pattern { gsub(/\+0x[0-9a-f]+\/0x[0-9a-f]+/, "", $5); print $5 }' "$tmp/$1" | sort -u
}

# objects_hold NAME FILE: the sections are well formed and add up; FILE was taken
# at rest
objects_hold() {
	bad=$(LC_ALL=C awk -F '\t' '
	function bad(why) { print "line " NR ": " why ": " $0 }
	function count(s) { return s ~ /^(0|-?[1-9][0-9]*|n\/a)$/ }
	/^# waitprof / { map = / live=map / }
	/^# lost / { split($0, w, /object_overflow=/); split($0, v, /object_cut=/); lost = w[2] + v[2] }
	/^# objects\t/ {
		if ($0 != "# objects\tallocs\tfrees\tlive\tpeak\tfailed\tolder_frees\tmissed\tunit_bytes\tnote") bad("heading")
		section = 1
	}
	/^# callers\t/ {
		if ($0 != "# callers\tobject\tcount\tlive\tpath") bad("heading")
		if (section != 1) bad("order")
		section = 2
	}
	/^#/ { next }
	section == 1 {
		if (NF != 10) bad(NF " columns, not 10")
		for (i = 2; i <= 9; i++) if (!count($i)) bad("column " i)
		if ($10 == "") bad("no note")
		if ($2 == "n/a") { if ($3 $4 $5 $6 $7 $8 $9 != "n/an/an/an/an/an/an/a") bad("not all n/a") }
		else if ($8 == "n/a") bad("missed")
		if (($4 == "n/a") != ($3 == "n/a") || ($4 != "n/a" && $4 > $2 - $3)) bad("live is more than allocs - frees")
		if ($4 != "n/a") unfollowed += $2 - $3 - $4
		if ($4 != "n/a" && $5 < $4) bad("peak is below live")
		if ($4 != "n/a" && map && ($6 == "n/a" || $7 == "n/a")) bad("map, and n/a")
		if (!map && $6 $7 != "n/an/a") bad("failed and older_frees in count mode")
		if ($1 in allocs) bad("twice")
		allocs[$1] = $2; live[$1] = $4
	}
	section == 2 {
		if (NF != 5 || $1 != "caller" || !($2 in allocs)) bad("caller")
		if (!count($3) || !count($4) || $3 < 0) bad("count or live")
		if ($5 !~ /^\(other\)$/ && $5 !~ /^[^\t<]+(<[^\t<]+)*$/) bad("path")
		if ($4 != "n/a") { if (!map) bad("live of a path in count mode"); lives[$2] += $4; if ($4 > $3) bad("more live than count") }
		else if ($5 == "(other)") others[$2] = 1
		counts[$2] += $3
		if (($2, $5) in seen && $5 !~ /\[/) bad("twice")
		seen[$2, $5] = 1
	}
	END {
		if (section != 2) print "no sections"
		for (o in allocs) {
			if (allocs[o] != "n/a" && counts[o] + 0 != allocs[o]) print o ": counts of paths are " counts[o] + 0 ", allocs " allocs[o]
			if (unfollowed != lost) { print "live lacks " unfollowed " objects, not followed are " lost; lost = unfollowed }
			if (map && live[o] != "n/a" && !(o in others) && lives[o] + 0 != live[o]) print o ": live of paths is " lives[o] + 0 ", in all " live[o]
		}
	}' "$tmp/$2" 2>&1)
	is "$1: objects and callers are well formed and add up" "$bad" ""
}

# near NAME GOT WANTED DEVIATION
near() {
	holds "$1: $2 is $3 within $4" "$2 - $3 <= $4 && $3 - $2 <= $4"
}

# refused COMMAND: what a write of it is answered with, and whether anything is
# another than before
refused() {
	snap refused1
	printf '%s' "$1" | wpfix put /proc/waitprof | cut -f3
	snap refused2
	sed '1,/^# objects/d; /^# callers/,$d' "$tmp/refused1" | cut -f1,10 >"$tmp/refused3"
	sed '1,/^# objects/d; /^# callers/,$d' "$tmp/refused2" | cut -f1,10 | cmp -s "$tmp/refused3" - || echo changed
}

slab=/sys/kernel/slab/buffer_head

# in_slab: buffer heads in use, counted by the slab allocator. What a CPU keeps
# for itself counts as in use there, so it is taken back first.
in_slab() {
	echo 1 >$slab/shrink
	sed 's/ .*//' $slab/objects
}

# slab_snap FILE: a snapshot at a moment at which the slab stands still; leaves
# in $exact what in_slab says, in $net what the snapshot has more than at load
slab_snap() {
	for _try in 1 2 3 4 5 6 7 8 9 10; do
		exact=$(in_slab)
		snap "$1"
		[ "$exact" != "$(in_slab)" ] || break
		sleep 0.2
	done
	# With the map: those that are not followed are in allocs, their frees in older_frees.
	older=$(object "$1" older_frees buffer_head)
	[ "$older" != n/a ] || older=0
	# shellcheck disable=SC2034 # for the caller
	net=$(($(object "$1" allocs buffer_head) - $(object "$1" frees buffer_head) - older))
}

# slab_slack: how many free ones the allocator may take for used ones, where they
# were not taken back: a slab of each CPU, and those it has in reserve (SLUB keeps
# room for twice cpu_partial in slabs); or (7.x) two sheaves, a spare one and one
# that waits for RCU of each CPU, and ten full ones. KASAN keeps all that are freed
# for a while. Before 5.16 cpu_partial was for objects that were free when their
# slab was put in reserve, one of each perhaps: as many slabs and one more can be
# there, and all in them be free by now.
slab_slack() {
	if grep -q ' kasan_quarantine_put$' /proc/kallsyms; then
		echo 1000000
	elif uname -r | grep -qE '^5\.([0-9]|1[0-5])\.'; then
		echo $((cpus * $(cat $slab/objs_per_slab) * (2 + $(cat $slab/cpu_partial))))
	elif [ -r $slab/sheaf_capacity ] && [ "$(cat $slab/sheaf_capacity)" != 0 ]; then
		echo $(((cpus * 4 + 10) * $(cat $slab/sheaf_capacity) + cpus * $(cat $slab/objs_per_slab)))
	else
		per=$(cat $slab/objs_per_slab)
		echo $((cpus * per * (1 + (2 * $(cat $slab/cpu_partial) + per - 1) / per)))
	fi
}

# quiet: nothing is to be written, and nothing is on its way
quiet() {
	sync
	for _try in $(seq 50); do
		sleep 0.1
		[ "$(cat /sys/block/*/inflight | awk '{ n += $1 + $2 } END { print n + 0 }')" = 0 ] &&
			awk '/^(Dirty|Writeback):/ && $2 > 0 { exit 1 }' /proc/meminfo && break
		sync
	done
	sleep 0.3
}

drop_caches() {
	sync
	echo 3 >/proc/sys/vm/drop_caches
}

# hold N FILE...: opens them, N opens in all; let_go closes them all
hold() {
	rm -f "$tmp/go" "$tmp/held.out"
	mkfifo "$tmp/go"
	wpfix openmany "$@" <"$tmp/go" >"$tmp/held.out" 2>&1 &
	holder=$!
	exec 9>"$tmp/go"
	held_is ready || fail "openmany $1" "$(cat "$tmp/held.out")"
}

held_is() {
	until grep -qs "$1" "$tmp/held.out"; do
		[ -d "/proc/$holder" ] || return 1
		sleep 0.05
	done
}

let_go() {
	echo close >&9
	held_is closed || fail "openmany: close" "$(cat "$tmp/held.out")"
}

hold_end() {
	echo end >&9
	exec 9>&-
	wait "$holder"
}

# raw_load [PARAMETERS...]: wp_raw with 46 device files, whose names are in $raws
raw_load() {
	insmod /waitprof/wp_raw.ko "$@"
	raw_major=$(awk '$2 == "wp_raw" { print $1 }' /proc/devices)
	raws=''
	for raw_minor in $(seq 0 45); do
		rm -f "$tmp/raw$raw_minor"
		mknod "$tmp/raw$raw_minor" c "$raw_major" "$raw_minor"
		raws="$raws $tmp/raw$raw_minor"
	done
}
