# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: the kiobufs of raw devices as in 2.4.16 and 2.4.6: objects, call graph, free memory; before and after the module that has them
# shellcheck source=tests/lib.sh
. ./lib.sh
# shellcheck source=tests/objects.sh
. ./objects.sh

# Field case E2: counted whether or not the slab is one with others of its size.
# With the map: none of the objects below may find it full.
room=4194304

# drawn FILE: the graph of buffer_head, on one line
drawn() { waitprof graph buffer_head "$tmp/$1" | tr -d '\n' | sed 's/  */ /g'; }

# cell FILE LABEL COLUMN: of waitprof table, in the part that has the differences
cell() {
	awk -v label="$2" -v col="$3" '
	$1 == "snapshot" { for (i = 1; i <= NF; i++) c[$i] = i }
	$1 == "less" { less = 1 }
	less && $1 == label { gsub(/,/, "", $c[col]); print $c[col] + 0 }' "$tmp/$1"
}

# on_lists: KiB of free pages that the CPUs keep for themselves, which count
# neither as free nor as used. Here that may be 54 MiB a CPU.
on_lists() { awk '$1 == "count:" { n += $2 } END { print n * 4 }' /proc/zoneinfo; }

# n_a NAME FILE OBJECT FUNCTION (field case E1: no hook, no number)
n_a() {
	is "$1: $3 is n/a, and why" "$(objects "$2" "$3") $(object "$2" peak "$3") $(object "$2" missed "$3") $(object "$2" note "$3")" \
		"n/a n/a n/a n/a n/a n/a n/a no $4 in this kernel"
}

# shape NAME OPENS KIOBUFS BHS PARAMETERS...: one shape of the raw devices, held
# open and closed; leaves wp_raw loaded
shape() {
	name="$live $1" opens=$2 kiobufs=$3 per=$4
	heads=$((kiobufs * per))
	shift 4
	raw_load "$@"
	for fn in raw_open chrdev_open; do
		[ -n "$(snap t; object t allocs $fn)" ] || echo "track $fn $fn" >/proc/waitprof
	done
	reset
	echo 1 >$slab/shrink
	snap before
	lists=$(on_lists)
	# shellcheck disable=SC2086 # words
	hold "$opens" $raws
	snap held
	is "$name: raw_open, kiobuf, alloc_kiobuf_bhs, buffer_head" \
		"$(object held allocs raw_open) $(objects held kiobuf) $(object held allocs alloc_kiobuf_bhs) $(objects held buffer_head)" \
		"$opens $kiobufs 0 $kiobufs $none $none $kiobufs $heads 0 $heads $none $none"
	is "$name: peaks" "$(object held peak kiobuf) $(object held peak buffer_head)" "$kiobufs $heads"
	holds "$name: chrdev_open $(object held allocs chrdev_open)" "$(object held allocs chrdev_open) >= $opens"
	way="alloc_kiobuf_bhs [wp_raw]<alloc_kiovec [wp_raw]<raw_open [wp_raw]<chrdev_open"
	from="chrdev_open $(object held allocs chrdev_open) → raw_open $opens → "
	# On 5.10 a path ends at a function with a return probe, here alloc_kiovec.
	case $live$(uname -r) in
	map5.10.*) way=${way%%<raw_open*} from='' ;;
	esac
	is "$name: the path of buffer heads" "$(paths held buffer_head)" "$way"
	is "$name: their count and live there" "$(callers held count buffer_head) $(callers held live buffer_head)" \
		"$heads $([ "$live" = map ] && echo $heads || echo n/a)"
	is "$name: graph" "$(drawn held)" \
		"${from}alloc_kiovec $kiobufs → alloc_kiobuf_bhs $kiobufs → buffer_head $heads, $per per call"
	objects_hold "$name, held" held
	is "$name: nothing missed or lost" "$(object held missed buffer_head) $(object held missed kiobuf) $(object held missed raw_open) $(word held object_overflow)" "0 0 0 0"

	let_go
	snap after
	is "$name: after close" "$(objects after kiobuf) $(objects after buffer_head)" \
		"$kiobufs $kiobufs 0 $none $none $heads $heads 0 $none $none"
	[ "$live" = count ] || is "$name: after close, live by path" "$(callers after live buffer_head)" 0
	note "$name: peaks held $(object held peak kiobuf) $(object held peak buffer_head), closed $(object after peak kiobuf) $(object after peak buffer_head)"
	near "$name: after close, peak of kiobuf" "$(object after peak kiobuf)" "$kiobufs" $((slack * cpus))
	near "$name: after close, peak of buffer_head" "$(object after peak buffer_head)" $heads $((slack * cpus))
	objects_hold "$name, closed" after
	hold_end
}

# memory NAME LEAST: free memory of the shape before, held and after, in KiB
memory() {
	echo 1 >$slab/shrink
	sleep 1
	snap shrunk
	lists=$(($(on_lists) - lists))
	waitprof table before="$tmp/before" held="$tmp/held" closed="$tmp/after" shrunk="$tmp/shrunk" >"$tmp/table" 2>&1 ||
		fail "$1: waitprof table" "$(cat "$tmp/table")"
	sed 's/^/# /' "$tmp/table"
	is "$1: table has the objects" "$(cell table held kiobuf) $(cell table held buffer_head) $(cell table closed buffer_head)" \
		"$kiobufs $heads 0"
	holds "$1: free memory falls by at least $2 KiB while they are open" "$(cell table held free) <= -($2)"
	holds "$1: the slab has grown by at least as much" "$(cell table held slab) >= $2"
	# What else is going on: 8 MiB. What the slab keeps: 1 MiB.
	holds "$1: closed and shrunk, all but 8 MiB is back, with what the CPUs keep" "$(cell table shrunk free) + $lists >= -8192"
	near "$1: closed and shrunk, the slab" "$(cell table shrunk slab)" 0 1024
}

# names NAME: after rmmod, all is as it was
names() {
	snap a
	rmmod wp_raw
	snap gone
	for o in kiobuf alloc_kiobuf_bhs buffer_head raw_open; do
		is "$1: $o after rmmod" "$(objects gone $o) $(object gone peak $o) $(object gone note $o)" \
			"$(objects a $o) $(object a peak $o) $(object a note $o)"
	done
	is "$1: notes" "$(object gone note kiobuf) $(object gone note alloc_kiobuf_bhs)" \
		"alloc_kiovec [wp_raw],free_kiovec [wp_raw] alloc_kiobuf_bhs [wp_raw]"
	insmod /waitprof/wp_gone.ko
	echo 3 1 >/proc/wp_gone
	snap gone
	is "$1: the path's name, with another module in that place" "$(paths gone buffer_head)" "$way"
	is "$1: and the graph" "$(drawn gone | sed 's/^chrdev_open [0-9,]*/chrdev_open/')" "$(drawn a | sed 's/^chrdev_open [0-9,]*/chrdev_open/')"
	rmmod wp_gone
	objects_hold "$1, gone" gone
}

for live in count map; do
	none=n/a
	[ $live = count ] || none=0
	slack=64
	load live=$live objects=$room check=1 || continue
	snap s
	is "$live: live=" "$(word s live)" $live
	n_a "$live, no module" s kiobuf alloc_kiovec
	n_a "$live, no module" s alloc_kiobuf_bhs alloc_kiobuf_bhs
	is "$live: waitprof graph kiobuf" "$(waitprof graph kiobuf "$tmp/s")" "kiobuf n/a: no alloc_kiovec in this kernel"
	objects_hold "$live, no module" s
	# Each walk is compared with the unwinder's: few kiobufs.
	shape "2.4.6 (46 devices)" 1042 46 1024 shared=1
	snap s
	memo_holds "$live 2.4.6" s 20
	names "$live"

	load live=$live objects=$room || continue
	shape "2.4.16" 1306 1306 1024
	memory "$live 2.4.16" 102400
	is "$live 2.4.16: unit_bytes" "$(object held unit_bytes buffer_head) $(object held unit_bytes kiobuf)" "$(cat $slab/object_size) n/a"
	names "$live 2.4.16"
	# The module comes again, and the trackers with it.
	shape "BH1 (half)" 1306 1306 512 bhs=512
	rmmod wp_raw
	shape "BH2 (a sixteenth)" 1306 1306 64 bhs=64
	rmmod wp_raw

	# Some opened before a reset, some after it.
	raw_load bhs=64
	reset
	# shellcheck disable=SC2086 # words
	hold 500 $raws
	reset
	snap s
	is "$live reset: a new window" "$(objects s kiobuf) $(objects s buffer_head)" "0 0 0 $none $none 0 0 0 $none $none"
	# shellcheck disable=SC2086 # words
	wpfix openmany 806 $raws </dev/null >/dev/null 2>&1 # they are closed at its end
	snap s
	is "$live reset: those of the window" "$(objects s kiobuf) $(objects s buffer_head)" \
		"806 806 0 $none $none 51584 51584 0 $none $none"
	let_go
	snap s
	if [ $live = map ]; then
		is "$live reset: older ones freed" "$(objects s kiobuf) $(objects s buffer_head)" \
			"806 806 0 0 500 51584 51584 0 0 32000"
		is "$live reset: live by path" "$(callers s live buffer_head)" 0
	else
		is "$live reset: older ones make live fall" "$(objects s kiobuf) $(objects s buffer_head)" \
			"806 1306 -500 n/a n/a 51584 83584 -32000 n/a n/a"
	fi
	objects_hold "$live reset" s
	hold_end
	rmmod wp_raw

	# A peak is exact where each allocation goes to the shared count.
	load live=$live objects=$room peak_batch=1 || continue
	slack=0
	shape "BH2, peak_batch=1" 1306 1306 64 bhs=64
	rmmod wp_raw
done
done_testing
