# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: a leak of buffer heads stands at who leaks, and keeps its name when that module has gone; page cache is no leak
# shellcheck source=tests/lib.sh
. ./lib.sh
# shellcheck source=tests/objects.sh
. ./objects.sh

# A journal would have buffer heads of its own.
disk=$(awk '$2 == "/mnt" { print $1 }' /proc/mounts)
[ -z "$disk" ] || umount /mnt

# Field case E3
for live in count map; do
	drop_caches
	quiet
	load live=$live check=1 || continue
	none=n/a
	[ $live = count ] || none=0
	insmod /waitprof/wp_leak.ko
	reset
	base=$(in_slab)
	snap s
	is "$live: at first" "$(objects s buffer_head)" "0 0 0 $none $none"

	echo leak 1000 >/proc/wp_leak
	now=$(in_slab)
	snap s
	is "$live: 1000 leaked, as in the slab" "$(objects s buffer_head) $((now - base))" "1000 0 1000 $none $none 1000"
	path='leak_fn [wp_leak]<wp_leak_write [wp_leak]'
	is "$live: at who leaks, and nowhere else" "$(paths s buffer_head | cut -d'<' -f1-2)" "$path"
	is "$live: count and live there" "$(callers s count buffer_head 'leak_fn') $(callers s live buffer_head 'leak_fn')" \
		"1000 $([ $live = map ] && echo 1000 || echo n/a)"
	waitprof graph --tree buffer_head "$tmp/s" | sed 's/^/# /'
	is "$live: the graph's edge" "$(waitprof graph --tree buffer_head "$tmp/s" | awk '$1 == "leak_fn" && $2 == "->" { print $3, $5 }')" "buffer_head 1000"
	objects_hold "$live, leaked" s

	echo pair 500 >/proc/wp_leak
	snap s
	is "$live: what is given back is no leak" "$(objects s buffer_head)" "1500 500 1000 $none $none"
	is "$live: pairs at theirs" "$(callers s count buffer_head 'pair_fn') $(callers s live buffer_head 'pair_fn') $(callers s live buffer_head 'leak_fn')" \
		"500 $([ $live = map ] && echo 0 1000 || echo n/a n/a)"
	echo free >/proc/wp_leak
	snap s
	is "$live: freed" "$(objects s buffer_head) $(in_slab)" "1500 1500 0 $none $none $base"
	[ $live = count ] || is "map: freed, by path" "$(callers s live buffer_head)" 0

	# Leaked again; the module's exit frees them, before its name has gone.
	echo leak 1000 >/proc/wp_leak
	snap s
	is "$live: leaked again, at the same path" "$(objects s buffer_head) $(callers s count buffer_head 'leak_fn')" "2500 1500 1000 $none $none 2000"
	[ $live = count ] || is "map: live at the same path" "$(callers s live buffer_head 'leak_fn')" 1000
	rmmod wp_leak
	snap s
	is "$live: after rmmod" "$(objects s buffer_head) $(in_slab)" "2500 2500 0 $none $none $base"
	is "$live: after rmmod, the name" "$(paths s buffer_head leak_fn | cut -d'<' -f1-2) $(callers s count buffer_head leak_fn)" "$path 2000"
	insmod /waitprof/wp_gone.ko
	echo 3 1 >/proc/wp_gone
	snap s
	is "$live: and with another module in its place" "$(paths s buffer_head leak_fn | cut -d'<' -f1-2) $(callers s count buffer_head leak_fn)" "$path 2000"
	objects_hold "$live, gone" s
	# Itself again.
	insmod /waitprof/wp_leak.ko
	echo leak 30 >/proc/wp_leak
	snap s
	is "$live: loaded again" "$(objects s buffer_head) $(callers s count buffer_head leak_fn)" "2530 2500 30 $none $none 2030"
	is "$live: loaded again, one name" "$(paths s buffer_head leak_fn | cut -d'<' -f1-2)" "$path"
	rmmod wp_leak
	rmmod wp_gone
	is "$live: nothing missed or lost" "$(object s missed buffer_head) $(word s object_overflow)" "0 0"
	memo_holds "$live" s 3
done

# --- page cache is no leak (field case E3) ----------------------------------------------------

modprobe loop
modprobe -q ext2 || modprobe -q ext4
dd if=/dev/zero of="$tmp/image" bs=1M count=40 2>/dev/null
losetup /dev/loop0 "$tmp/image"
mke2fs -F -b 1024 /dev/loop0 >"$tmp/mke2fs" 2>&1 || fail "mke2fs" "$(cat "$tmp/mke2fs")"
mkdir -p "$tmp/ext2"
for live in count map; do
	mount -t ext2 /dev/loop0 "$tmp/ext2" || fail "mount -t ext2"
	drop_caches
	quiet
	load live=$live || continue
	dd if=/dev/zero of="$tmp/ext2/f" bs=64k count=384 2>/dev/null
	snap written
	drop_caches
	quiet
	snap dropped
	note "$live: written: live $(object written live buffer_head), dropped: $(object dropped live buffer_head)"
	holds "$live: writing 24 MiB in blocks of 1 KiB: live grows by a buffer head each" "$(object written live buffer_head) >= 24576"
	holds "$live: and falls, all but 2 %" "$(object dropped live buffer_head) <= 24576 * 0.02"

	umount "$tmp/ext2"
	mount -t ext2 /dev/loop0 "$tmp/ext2" || fail "mount -t ext2"
	drop_caches
	quiet
	reset
	cat "$tmp/ext2/f" >/dev/null
	snap read
	drop_caches
	snap dropped
	# Each CPU keeps the last 16 it looked up, each with those of its page; this
	# asks them back.
	blockdev --flushbufs /dev/loop0
	quiet
	snap flushed
	note "$live: read: live $(object read live buffer_head), dropped: $(object dropped live buffer_head), flushed: $(object flushed live buffer_head)"
	# A block of 1 KiB has the addresses of 256 others.
	holds "$live: reading it: live grows, by one at least for each block of addresses" "$(object read live buffer_head) >= 96"
	holds "$live: and falls, but for what CPUs keep" "$(object dropped live buffer_head) < $(object read live buffer_head) && \
		$(object dropped live buffer_head) <= 64 * $cpus"
	holds "$live: and with that, but for 32" "$(object flushed live buffer_head) <= 32"
	[ $live = count ] || {
		paths read buffer_head | head -n 3 | sed 's/^/# /'
		holds "map: by path too" "$(callers flushed live buffer_head) <= 32"
	}
	objects_hold "$live, read" flushed
	umount "$tmp/ext2"
	rm -f "$tmp/s"
	unload
done
losetup -d /dev/loop0
rmmod loop
[ -z "$disk" ] || mount -t ext4 "$disk" /mnt
done_testing
