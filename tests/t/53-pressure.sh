# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: hardly any memory left, buffer heads taken and given back all the time, a map that is full: all goes on, and what is lost is counted
# shellcheck source=tests/lib.sh
. ./lib.sh
# shellcheck source=tests/objects.sh
. ./objects.sh

# Field case A5. The guest has 256 MiB and no swap. What is in tmpfs cannot be written elsewhere;
# it is filled until no more than this is left, in KiB, so that all others must
# reclaim. With half of it the kernel kills somebody; that would be no fault of
# the module's, but there is a "Call Trace" in the log.
left=24000

is "a small guest without swap" "$(awk '/^(MemTotal|SwapTotal):/ { print $2 + 0 < 300000 && ($1 ~ /^Mem/ || $2 == 0) }' /proc/meminfo | tr '\n' ' ')" "1 1 "
is "the slab of buffer heads is not shared (slab_nomerge)" "$(cat $slab/aliases)" 0
grep -q ' /mnt ext4 ' /proc/mounts || fail "a disk at /mnt (--disk)"

available() { awk '/^MemAvailable:/ { print $2 }' /proc/meminfo; }
# reclaims: pages that tasks had to look at for themselves, having found none free
reclaims() { awk '/^pgscan_direct / { print $2 }' /proc/vmstat; }
killed() { awk '/^oom_kill / { print $2 }' /proc/vmstat; }
fill() {
	n=$1
	while [ "$(available)" -gt $left ]; do
		dd if=/dev/zero of="$tmp/hog/$n" bs=256k count=4 2>/dev/null
		n=$((n + 1))
	done
}

modprobe null_blk irqmode=2 completion_nsec=20000 gb=1
mkdir -p "$tmp/hog"
mount -t tmpfs -o size=100% hog "$tmp/hog"

# work FILE: takes and gives back, until $tmp/stop is there; leaves the rounds
work() {
	rounds=0
	while [ ! -e "$tmp/stop" ]; do
		dd if=/dev/zero of="$1" bs=64k count=192 conv=notrunc 2>/dev/null || break
		dd if="$1" of=/dev/null bs=64k 2>/dev/null || break
		rounds=$((rounds + 1))
	done
	echo $rounds >"$tmp/rounds.${1##*/}"
}

for live in count map; do
	drop_caches
	quiet
	log_mark
	kills=$(killed)
	# One in ten of the buffer heads finds room in the map.
	load live=$live objects=1024 || continue
	slab_snap s
	base=$((exact - net))
	rm -f "$tmp/stop"
	for i in 1 2 3 4; do
		work "/mnt/f$i" &
	done
	dd if=/dev/nullb0 of=/dev/null bs=2M count=400 iflag=direct 2>/dev/null &
	scanned=$(reclaims)
	fill 0
	reads=0 bad='' least=$(available)
	for second in $(seq 15); do
		sleep 1
		fill $((second * 1000))
		snap s || bad="$bad $second:read"
		[ -n "$(object s allocs buffer_head)" ] && [ "$(grep -c ^caller "$tmp/s")" -gt 0 ] || bad="$bad $second:short"
		[ "$(available)" -ge "$least" ] || least=$(available)
		reads=$((reads + 1))
	done
	: >"$tmp/stop"
	wait
	scanned=$(($(reclaims) - scanned))
	note "$live: $(cat "$tmp"/rounds.* | tr '\n' ' ')rounds, $reads reads of the report, least available $least KiB, $scanned pages scanned in direct reclaim"
	grep '^# lost' "$tmp/s"
	is "$live: the report can be read all the time" "$bad" ""
	holds "$live: tasks had to reclaim for themselves" "$scanned > 1000"
	holds "$live: all four did their rounds" "$(sort -n "$tmp"/rounds.* | head -n 1) >= 1"
	is "$live: nobody was killed" "$(killed)" "$kills"
	rm -f "$tmp"/hog/*
	# Only now: it takes 4 MiB.
	is "$live: no complaint in the log" "$(log_since | grep -E 'Call Trace|WARNING|BUG|page allocation failure|blocked for more')" ""
	rm -f /mnt/f?
	drop_caches
	quiet
	slab_snap s
	more=$((exact - base))
	lost=$(word s object_overflow)
	missed=$(object s missed buffer_head)
	note "$live: buffer heads $(objects s buffer_head), slab $more, overflow $lost, missed $missed; bios $(objects s bio), missed $(object s missed bio)"
	holds "$live: buffer heads enough" "$(object s allocs buffer_head) >= 4 * 3072"
	near "$live: net is what the slab has more" "$net" "$more" "$missed"
	if [ $live = map ]; then
		holds "map: it was full" "$lost > 1000"
		holds "map: live is no more than is there" "$(object s live buffer_head) <= $exact + $missed"
		holds "map: what live lacks is no more than the overflow" "$more - $(object s live buffer_head) <= $lost + $missed"
		is "map: none failed" "$(object s failed buffer_head) $(object s failed bio)" "0 0"
	else
		is "count: no map, no overflow" "$lost" 0
	fi
	near "$live: bios are given back" "$(object s live bio)" 0 "$(object s missed bio)"
	objects_hold "$live" s
done
umount "$tmp/hog"
rmmod null_blk
done_testing
