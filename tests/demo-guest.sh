#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The guest's half of tests/demo. The module is loaded, a slow ext4 disk is at /mnt.
say() { echo "waitprof: $*" >&2; }

say "preparing: 48 small files on the disk ..."
mkdir /mnt/small
i=0
while [ $i -lt 48 ]; do
	dd if=/dev/zero of=/mnt/small/$i bs=4k count=4 2>/dev/null
	i=$((i + 1))
done
sync
echo 3 >/proc/sys/vm/drop_caches

# As on any machine: those who wait for something to do (field case B7)
wpfix sleepers 19 600 >/tmp/sleepers &
until grep -q ready /tmp/sleepers; do sleep 0.1; done

echo reset >/proc/waitprof
say "dd writes 48 MiB; meanwhile somebody reads files that are not cached ..."
dd if=/dev/zero of=/mnt/large bs=1M count=48 conv=fsync 2>/dev/null &
writer=$!
i=0
while [ -d /proc/$writer ] && [ $i -lt 48 ]; do
	cat /mnt/small/$i >/dev/null
	i=$((i + 1))
	[ $((i % 8)) != 0 ] || say "$i files read"
	sleep 0.1
done
wait $writer
cat /proc/waitprof >/tmp/report
say "done: $i files read while dd wrote"

echo
echo "report (/proc/waitprof): rows with finished waits, the 25 longest"
awk -F '\t' '/^#/ || ($8 > 0 && n++ < 25)' /tmp/report
echo
echo "listing (waitprof here): the ten sites with the most jiffies"
awk -F '\t' '/ HERE/ && $1 !~ /^0+ / { print $4 "\t" NR "\t" $0 }' /tmp/report |
	sort -k1,1nr -k2,2n | cut -f3- | awk '!seen[$1]++' | head -n 10 | waitprof here -
