# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: buffer heads and bios of real file systems against the slab's own count; frees from interrupts; track, untrack, on, off, reset
# shellcheck source=tests/lib.sh
. ./lib.sh
# shellcheck source=tests/objects.sh
. ./objects.sh

# Another cache's objects must not be counted with the buffer heads.
is "the slab of buffer heads is not shared (slab_nomerge)" "$(cat $slab/aliases)" 0
grep -q ' /mnt ext4 ' /proc/mounts || fail "a disk at /mnt (--disk)"

probes() { wc -l </sys/kernel/debug/kprobes/list; }

# --- commands that are refused -----------------------------------------------------------

load live=count
kprobes=$(probes)
long=aaaaaaaaaabbbbbbbbbbccccccccccd
symbol=$(printf '%0127d' 0)
for command in track 'track ' 'track x' 'track x ' 'track  x vfs_read' 'track x  vfs_read' ' track x vfs_read' \
	'track x vfs_read ' 'track x vfs_read vfs_write vfs_open' 'track x	vfs_read' 'track x/y vfs_read' \
	'track x vfs_read+4' 'track x 0xffffffff81000000' 'track x -' 'track x :vfs_read' 'track x wp_raw:' 'track x wp_raw::raw_open' \
	'track x a:b:c' 'track x vfs_read :b' 'track x vfs_read b:' "track ${long}e vfs_read" "track x ${symbol}0" \
	'track x vfs_ré' 'Track x vfs_read' 'track:x vfs_read' untrack 'untrack ' 'untrack a b' 'untrack buffer_head ' \
	'tracking x vfs_read'; do
	case $command in
	# No such symbol, but a good word.
	'track x 0xffffffff81000000' | 'track x -') continue ;;
	esac
	is "EINVAL: '$command'" "$(refused "$command")" EINVAL
done
blocked=$(awk '$2 ~ /^[a-z_]+$/ { print $2; exit }' /sys/kernel/debug/kprobes/blacklist)
is "EINVAL: a function that must not be probed, $blocked" "$(refused "track x $blocked")" EINVAL
# Field case A1: not there, or there by another name: never a silent 0
for command in 'track x no_such_function' 'track x 0xffffffff81000000' 'track x vfs_read no_such_function' \
	'track x no_such_function vfs_read' "track $long no_such_function" "track x $symbol" 'track x raw_open' \
	'untrack nobody' 'untrack x'; do
	is "ENOENT: '$command'" "$(refused "$command")" ENOENT
done
for command in 'track bio vfs_read' 'track buffer_head alloc_buffer_head free_buffer_head' 'track kiobuf vfs_read'; do
	is "EEXIST: '$command'" "$(refused "$command")" EEXIST
done
is "no kprobe is left of what was refused" "$(probes)" "$kprobes"

# --- track and untrack ---------------------------------------------------------------------

for i in $(seq 12); do
	echo "track t$i ksys_sync" >/proc/waitprof || fail "track t$i"
done
is "ENOSPC: a seventeenth" "$(refused 'track t13 ksys_sync')" ENOSPC
is "EEXIST comes before it" "$(refused 'track t12 ksys_sync')" EEXIST
for i in 1 2 3 4 5 6 7; do sync; done
snap s
sum=0
for i in $(seq 12); do
	sum=$((sum + $(object s allocs "t$i") + $(callers s count "t$i")))
done
is "12 trackers of one function: each 7 calls, and 7 by path" $sum $((12 * 14))
is "a plain count: nothing but allocs and missed" "$(objects s t5) $(object s peak t5) $(object s missed t5) $(object s unit_bytes t5) $(object s note t5)" \
	"7 n/a n/a n/a n/a n/a 0 n/a ksys_sync"
objects_hold "16 trackers" s
for i in $(seq 12); do
	echo "untrack t$i" >/proc/waitprof || fail "untrack t$i"
done
snap s
is "untracked: rows and paths are gone" "$(object s allocs t5)$(paths s t5)" ""
is "untracked: kprobes are gone" "$(probes)" "$kprobes"
is "ENOENT: untracked twice" "$(refused 'untrack t5')" ENOENT
echo 'track t5 ksys_sync' >/proc/waitprof
snap s
is "tracked again: counts anew" "$(object s allocs t5) $(callers s count t5)" "0 0"
sync
snap s
is "tracked again: and goes on" "$(object s allocs t5) $(callers s count t5)" "1 1"
# One that is built in.
dd if=/dev/zero of=/mnt/f bs=64k count=4 2>/dev/null
sync
echo 'untrack buffer_head' >/proc/waitprof
snap s
is "one that is built in can go" "$(object s allocs buffer_head)$(paths s buffer_head)" ""
echo 'track buffer_head alloc_buffer_head free_buffer_head' >/proc/waitprof
snap s
is "and come back, empty" "$(object s allocs buffer_head) $(object s note buffer_head)" "0 alloc_buffer_head,free_buffer_head"
objects_hold "tracked again" s

# --- MODULE:FUNCTION -----------------------------------------------------------------------

load live=count
for command in 'track opens wp_raw:raw_open wp_raw:raw_release' 'track outer chrdev_open wp_raw:raw_release' \
	'track kiovec wp_raw:alloc_kiovec wp_raw:free_kiovec' 'track other wp_leak:raw_open'; do
	is "waits for its module: '$command'" "$(printf '%s' "$command" | wpfix put /proc/waitprof | cut -f3)" 0
done
snap s
is "before: n/a, and what is missing" "$(objects s opens), $(object s note opens), $(object s note outer), $(object s note other)" \
	"n/a n/a n/a n/a n/a, no wp_raw:raw_open in this kernel, no wp_raw:raw_release in this kernel, no wp_leak:raw_open in this kernel"
raw_load bhs=3
# shellcheck disable=SC2086 # words
hold 100 $raws
snap s
is "loaded: they count" "$(objects s opens), $(objects s kiovec), $(objects s kiobuf)" \
	"100 0 100 n/a n/a, 100 0 100 n/a n/a, 100 0 100 n/a n/a"
is "loaded: both functions in the note" "$(object s note opens), $(object s note outer)" \
	"raw_open [wp_raw],raw_release [wp_raw], chrdev_open,raw_release [wp_raw]"
holds "loaded: the other half of a pair came with it" "$(object s allocs outer) >= 100 && $(object s frees outer) == 0"
insmod /waitprof/wp_leak.ko
snap s
is "that module has no such function" "$(objects s other), $(object s note other)" "n/a n/a n/a n/a n/a, no wp_leak:raw_open in this kernel"
let_go
snap s
is "closed" "$(objects s opens), $(objects s kiovec)" "100 100 0 n/a n/a, 100 100 0 n/a n/a"
hold_end
rmmod wp_raw
snap s
is "gone: numbers and notes stay" "$(objects s opens), $(object s note opens), $(object s note outer)" \
	"100 100 0 n/a n/a, raw_open [wp_raw],raw_release [wp_raw], chrdev_open,raw_release [wp_raw]"
before=$(object s allocs outer)
: >/dev/null
snap s
is "gone: the other half does not count alone" "$(object s allocs outer)" "$before"
objects_hold "gone" s

# --- on, off, reset ----------------------------------------------------------------------------

raw_load bhs=3
for live in count map; do
	load live=$live
	none=n/a
	[ $live = count ] || none=0
	echo leak 100 >/proc/wp_leak
	echo off >/proc/waitprof
	is "$live, off: no kprobes" "$(probes)" 0
	snap s
	# With the map, nobody follows what is live then.
	kept=100
	[ $live = count ] || kept=0
	is "$live, off: what was counted stays" "$(word s state) $(objects s buffer_head) $(callers s count buffer_head 'leak_fn') $(word s object_cut)" "off 100 0 $kept $none $none 100 $((100 - kept))"
	is "$live, off: ENOENT" "$(refused 'track x no_such_function')" ENOENT
	is "$live, off: a tracker is taken" "$(printf 'track sync ksys_sync' | wpfix put /proc/waitprof | cut -f3) $(probes)" "0 0"
	rmmod wp_raw
	raw_load bhs=3
	echo leak 30 >/proc/wp_leak
	sync
	snap s
	is "$live, off: nothing is counted" "$(objects s buffer_head) $(object s allocs sync) $(object s note sync)" "100 0 $kept $none $none 0 ksys_sync"
	echo on >/proc/waitprof
	echo leak 7 >/proc/wp_leak
	sync
	# shellcheck disable=SC2086 # words
	wpfix openmany 5 $raws </dev/null >/dev/null 2>&1
	snap s
	is "$live, on: goes on" "$(objects s buffer_head) $(object s allocs sync) $(objects s kiobuf)" \
		"122 15 $((kept + 7)) $none $none 1 5 5 0 $none $none"
	objects_hold "$live, on" s
	reset
	snap s
	is "$live, reset: a new window" "$(objects s buffer_head) $(object s allocs sync) $(objects s kiobuf) $(callers s count buffer_head) $(word s object_cut)" \
		"0 0 0 $none $none 0 0 0 0 $none $none 0 0"
	echo leak 11 >/proc/wp_leak
	echo free >/proc/wp_leak
	snap s
	if [ $live = count ]; then
		is "count, freed: older ones make live fall" "$(objects s buffer_head)" "11 148 -137 n/a n/a"
	else
		is "map, freed: older ones are told from the window's" "$(objects s buffer_head)" "11 11 0 0 137"
	fi
	objects_hold "$live, freed" s
done

# --- peak ------------------------------------------------------------------------------------------

# CPU 0 allocates, another frees, in parts that neither tells the other about.
for batch in 64 1; do
	load live=count peak_batch=$batch
	for mask in 2 4 8; do
		taskset 1 sh -c 'echo leak 63 >/proc/wp_leak'
		taskset $mask sh -c 'echo free >/proc/wp_leak'
	done
	snap s
	note "peak_batch=$batch: peak $(object s peak buffer_head), truth 63"
	near "peak_batch=$batch" "$(object s peak buffer_head)" 63 $((batch == 1 ? 0 : batch * cpus))
done

# --- windows ---------------------------------------------------------------------------------------

# Windows add up, with 4 CPUs at it: of the pairs each has as many allocations as
# frees, but for one that is under way.
load live=map
mkdir "$tmp/windows"
reset
for i in 1 2 3 4; do
	echo pair 40000 >/proc/wp_leak &
	# shellcheck disable=SC2086 # words
	wpfix openmany 3000 $raws </dev/null >/dev/null 2>&1 &
done
wpfix readreset /proc/waitprof "$tmp/windows" 6 50 >/dev/null
wait
snap last
cat "$tmp"/windows/* >"$tmp/all"
nr=$(find "$tmp/windows" -type f | wc -l)
note "$nr windows"
# total COLUMN NAME: over all windows
total() {
	LC_ALL=C awk -F '\t' -v col="$1" -v name="$2" '
	/^# / { in_it = $1 == "# objects"; if (in_it) for (i = 2; i <= NF; i++) c[$i] = i; next }
	in_it && $1 == name { n += $c[col] } END { printf "%.0f\n", n }' "$tmp/all" "$tmp/last"
}
missed=$(($(object last missed buffer_head) + $(object last missed kiobuf)))
near "windows add up: buffer heads" "$(total allocs buffer_head)" $((4 * 40000 + 4 * 3000 * 3)) "$missed"
near "windows add up: all are given back" $(($(total frees buffer_head) + $(total older_frees buffer_head))) $((4 * 40000 + 4 * 3000 * 3)) "$missed"
near "windows add up: kiobufs" "$(total allocs kiobuf)" 12000 "$missed"
rmmod wp_raw
rmmod wp_leak

# --- file systems, against the slab (field cases E1, E2) ------------------------------------------

modprobe loop
modprobe -q ext2 || modprobe -q ext4

# slab_agrees STEP: what the slab has more than at load is what was counted
slab_agrees() {
	quiet
	loose=$(sed 's/ .*//' $slab/objects)
	listed=$(awk '$1 == "buffer_head" { print $2 }' /proc/slabinfo)
	slab_snap s
	note "$live, $1: buffer heads: net $net, slab $((exact - base)) (unshrunk $((loose - base)), slabinfo $((listed - base))), allocs $(object s allocs buffer_head), missed $(object s missed buffer_head); bios: allocs $(object s allocs bio), live $(object s live bio), missed $(object s missed bio)"
	near "$live, $1: buffer heads as many more as in the slab" "$net" $((exact - base)) "$(object s missed buffer_head)"
	holds "$live, $1: the slab unshrunk, $((loose - exact)) more, and slabinfo, $((listed - exact)) more: within $slack" \
		"$loose - $exact >= 0 && $loose - $exact <= $slack && $listed - $exact >= 0 && $listed - $exact <= $slack"
	near "$live, $1: all bios are given back" "$(object s live bio)" 0 "$(object s missed bio)"
	objects_hold "$live, $1" s
}

slack=$(slab_slack)
for live in count map; do
	rm -f /mnt/*
	drop_caches
	quiet
	load live=$live || continue
	# Between load and the first look at the slab somebody may have been quicker.
	slab_snap s
	base=$((exact - net))
	slab_agrees "loaded"

	dd if=/dev/zero of=/mnt/f bs=64k count=256 2>/dev/null
	slab_agrees "ext4, written"
	holds "$live: a buffer head for each block of 4 KiB" "$(object s allocs buffer_head) >= 4096 && $net >= 4096"
	drop_caches
	slab_agrees "ext4, dropped"
	holds "$live: given back" "$net < 400"
	dd if=/mnt/f of=/dev/null bs=64k 2>/dev/null
	dd if=/mnt/f of=/dev/null bs=64k iflag=direct 2>/dev/null
	slab_agrees "ext4, read"
	bios=$(object s allocs bio)
	dd if=/dev/zero of=/mnt/f bs=64k count=256 conv=notrunc oflag=direct 2>/dev/null
	slab_agrees "ext4, written directly"
	holds "$live: a bio for each write" "$(object s allocs bio) - $bios >= 256"

	dd if=/dev/zero of=/mnt/image bs=1M count=32 2>/dev/null
	losetup /dev/loop0 /mnt/image
	mke2fs -F -b 1024 /dev/loop0 >"$tmp/mke2fs" 2>&1 || fail "mke2fs" "$(cat "$tmp/mke2fs")"
	slab_agrees "mke2fs"
	mkdir -p "$tmp/ext2"
	mount -t ext2 /dev/loop0 "$tmp/ext2" || fail "mount -t ext2"
	slab_agrees "ext2, mounted"
	allocs=$(object s allocs buffer_head)
	dd if=/dev/zero of="$tmp/ext2/f" bs=64k count=128 2>/dev/null
	slab_agrees "ext2, written"
	holds "$live: a buffer head for each block of 1 KiB" "$(object s allocs buffer_head) - $allocs >= 8192"
	drop_caches
	slab_agrees "ext2, dropped"
	dd if="$tmp/ext2/f" of=/dev/null bs=64k 2>/dev/null
	dd if="$tmp/ext2/f" of=/dev/null bs=64k iflag=direct 2>/dev/null
	for i in $(seq 100); do mkdir "$tmp/ext2/d$i"; done
	slab_agrees "ext2, read, 100 directories"
	umount "$tmp/ext2"
	losetup -d /dev/loop0
	drop_caches
	slab_agrees "ext2, unmounted"
	rm -f /mnt/image /mnt/f
	drop_caches
	slab_agrees "removed"
done
rmmod loop

# --- bios given back by interrupts ----------------------------------------------------------------

# Reads of 2 MiB are more than the device takes at one time, 128 KiB; the parts are
# given back by its timer's interrupt.
modprobe null_blk irqmode=2 completion_nsec=20000 gb=1
# A sync of ext4 flushes its disk, and on 5.10 that takes a bio.
disk=$(awk '$2 == "/mnt" { print $1 }' /proc/mounts)
umount /mnt

# direct COUNT: 4 tasks, so many reads each
direct() {
	for i in 1 2 3 4; do
		dd if=/dev/nullb0 of=/dev/null bs=2M count="$1" iflag=direct 2>/dev/null &
	done
	wait
}
# Those that were merged into another are bios too.
requests() { awk '{ print $1 + $2 }' /sys/block/nullb0/stat; }

# Is it as it should be? By the kernel's own tracing.
trace=/sys/kernel/tracing
echo 'p:wp_put bio_put' >$trace/kprobe_events
echo 1 >$trace/events/kprobes/wp_put/enable
direct 10
echo 0 >$trace/events/kprobes/wp_put/enable
# The third of the flags: in an interrupt.
sed -n 's/.*\] \([^ ]*\) .*wp_put: .*/\1/p' $trace/trace | cut -c3 >"$tmp/flags"
echo >$trace/kprobe_events
echo >$trace/trace
irqs=$(grep -c '[hHsZ]' "$tmp/flags")
holds "$irqs of $(wc -l <"$tmp/flags") bios are put in an interrupt" "$irqs >= 4 * 10 * 14"

for live in count map; do
	load live=$live || continue
	quiet
	snap s
	start=$(object s live bio)
	all=$(requests)
	for round in 1 2 3; do
		was=$(requests)
		direct 150
		quiet
		snap s
		was=$(($(requests) - was))
		missed=$(object s missed bio)
		note "$live, round $round: $was requests; bios: allocs $(object s allocs bio), live $(object s live bio), missed $missed, older $(object s older_frees bio)"
		near "$live, round $round: a bio for each request" "$(object s allocs bio)" $(($(requests) - all)) "$missed"
		near "$live, round $round: live as at the start" "$(object s live bio)" "$start" "$missed"
		objects_hold "$live, round $round" s
	done
	holds "$live: requests enough" "$(requests) - $all >= 3 * 4 * 150 * 16"
done
rmmod null_blk
mount -t ext4 "$disk" /mnt
done_testing
