#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: waitprof slab gives every figure of the reports of 2008 again
# requires: sh and awk of at least one kind; no kernel module

top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
# shellcheck source-path=SCRIPTDIR source=rig
. "$top/tests/host/rig"
data=$top/tests/data

# --- what goes in -----------------------------------------------------------

# slabinfo FILE: from lines "cache active_objs num_objs objsize objperslab
# pagesperslab num_slabs".
slabinfo() {
	{
		echo 'slabinfo - version: 2.1'
		echo '# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> <batchcount> <sharedfactor> : slabdata <active_slabs> <num_slabs> <sharedavail>'
		awk '{
			printf "%-17s %6s %6s %6s %4s %4s : tunables %4d %4d %4d : slabdata %6s %6s %6d\n",
				$1, $2, $3, $4, $5, $6, 0, 0, 0, $7, $7, 0
		}'
	} >"$1"
}

# Of the reports on one cache, a file each: report-N; the figures in want-N.
# objects_per_slab is not copied but what follows from size and order.
reports=$(awk -F '\t' -v dir="$tmp" '!/^#/ {
	n++
	pages = 1
	for (i = 0; i < $4; i++)
		pages *= 2
	per = int(4096 * pages / $3)
	print $1, $5, $6 * per, $3, per, pages, $6 >(dir "/lines-" n)
	print $1, $2 >(dir "/sizes-" n)
	print $1, $2, $3, $4, pages, $5, $6, $10, $11, $12, $13, $14, $15 >(dir "/want-" n)
	# All in one file, by names of their own.
	print $1 "." n, $5, $6 * per, $3, per, pages, $6 >(dir "/lines-all")
	if (n > 1)
		print $1 "." n, $2 >(dir "/sizes-all")
} END { print n }' "$data/slub-slabinfo-2.6.26.tsv")
echo 'empty_cache 0 0 64 64 1 0' >>"$tmp/lines-all"
for n in $(seq "$reports") all; do
	slabinfo "$tmp/report-$n" <"$tmp/lines-$n"
done

# Two kernels, and what the table of their slabs must say.
awk -F '\t' -v dir="$tmp" '!/^#/ {
	per = int(4096 * $5 / $2)
	file = $3 == "2.6.26" ? "A" : "B"
	print $1, $4, $6 * per, $2, per, $5, $6 >(dir "/lines-" file)
	diff = file == "A" ? "" : " " ($7 - was[$1])
	was[$1] = $7
	print $1, file, $4, $5, $6, $7 diff >(dir "/want-diff")
}' "$data/slub-order-2.6.26.tsv"
# The same in both; in A alone; in B alone.
for file in A B; do
	echo 'kmalloc-64 640 640 64 64 1 10' >>"$tmp/lines-$file"
	echo "only_$file 64 64 64 64 1 1" >>"$tmp/lines-$file"
	slabinfo "$tmp/$file" <"$tmp/lines-$file"
done

# The orders of caches on the box with 8 CPUs.
slabinfo "$tmp/orders" <<'EOF'
buffer_head 20084 20088 112 36 1 558
buffer_head_now 20084 20085 104 39 1 515
idr_layer_cache 300 300 536 30 4 10
dentry 80168 80184 208 39 2 2056
large 8 8 32768 1 8 8
idle 0 0 72 56 1 0
EOF

# Today: merged caches, a kernel whose counts are estimates, odd slabs.
mkdir -p "$tmp/now/sys/:a-0000104" "$tmp/now/sys/:0000040" "$tmp/now/sys/dentry"
slabinfo "$tmp/now/slabinfo" <<'EOF'
buffer_head 487748 559650 104 39 1 14350
dentry 1000 1029 192 42 2 25
unknown 10 42 96 42 1 1
EOF
ln -s :a-0000104 "$tmp/now/sys/buffer_head"
ln -s :a-0000104 "$tmp/now/sys/ext4_fc_dentry_update"
ln -s :a-0000104 "$tmp/now/sys/one_more"
ln -s :0000040 "$tmp/now/sys/not_listed"
echo 100 >"$tmp/now/sys/:a-0000104/object_size"
echo 192 >"$tmp/now/sys/dentry/object_size"
echo '# waitprof 1 version=1.0.0 kernel=6.12.30 hz=250' >"$tmp/now/waitprof"
cp "$tmp/now/slabinfo" "$tmp/now/old.slabinfo"
echo '# waitprof 1 version=1.0.0 kernel=6.1.0-57-amd64 hz=250' >"$tmp/now/old"

# Up to 2^53, and past what 32 bits hold.
slabinfo "$tmp/large" <<'EOF'
huge 85000000000000 85799999999922 104 39 1 2199999999998
big 4294967296 4294967296 4096 8 8 536870912
EOF
printf 'huge 100\nbig 4096\n' >"$tmp/large.sizes"

# A machine with pages of 64 KiB.
slabinfo "$tmp/arm64" <<'EOF'
buffer_head 600 630 104 630 1 1
dentry 100 341 192 341 1 1
EOF

echo 'nothing of the kind' >"$tmp/junk"
: >"$tmp/empty"
printf 'slabinfo - version: 1.1\nkmem_cache 59 78 100 2 2 1\n' >"$tmp/old.version"
{
	cat "$tmp/report-1"
	echo 'broken 1 2 3'
} >"$tmp/broken"
echo 'dentry 999' >"$tmp/wrong.sizes"
echo 'dentry large' >"$tmp/junk.sizes"

# 2,000 caches: sorted in time.
awk 'BEGIN {
	for (i = 0; i < 2000; i++)
		printf "cache_%d %d %d 128 32 1 %d\n", i, i * 7919 % 2000, 64000, 2000
}' | slabinfo "$tmp/many"
awk 'BEGIN { for (i = 0; i < 2000; i++) printf "cache_%d 128\n", i }' >"$tmp/many.sizes"

# --- one round --------------------------------------------------------------

# exact N: all figures of report N, and in the other form too.
exact() {
	quiet slab --tsv --file "$tmp/report-$1" --sizes "$tmp/sizes-$1" || return
	tail -n 1 "$tmp/out" | tr '\t' ' ' | sed 's/ [^ ]*$//' >"$tmp/got"
	cmp "$tmp/want-$1" "$tmp/got" >"$tmp/err" 2>&1 || return
	read -r cache rest <"$tmp/want-$1"
	quiet slab --file "$tmp/report-$1" --sizes "$tmp/sizes-$1" "$cache" || return
	# The lines are in the order of the columns but for two.
	got=$(awk 'NR > 1 && NF && !/^note|^  of it free|^wasted/ { v[NR] = $NF }
		END { print v[3], v[4], v[5], v[6], v[2], v[8], v[7], v[9], v[10], v[11], v[12], v[13] }' "$tmp/out")
	[ "$got" = "$rest" ] || {
		echo "wanted $rest, got $got" >"$tmp/err"
		return 1
	}
}

# ends FROM TO ARGS...: the rule goes from the one order to the other.
ends() {
	if [ "$1" = "$2" ]; then
		want='^rule of 2008: stays'
	else
		want="^rule of 2008: order $1 -> $2\$"
	fi
	from=$1
	shift 2
	shows "$want" slab --orders "$@" && head -n 1 "$tmp/out" | grep -Eq "order $from(:|\$)"
}

# As no one in particular; the tool reads no file of this tree but its parts.
unprivileged() {
	[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || return 1
	mkdir -p "$tmp/copy"
	cp -R "$top/scripts/waitprof" "$top/scripts/lib" "$tmp/copy/"
	chmod -R go+rX "$tmp"
	# shellcheck disable=SC2086 # $sh may be two words
	PATH=$bin:$PATH setpriv --reuid=65534 --regid=65534 --clear-groups $sh \
		"$tmp/copy/waitprof" "$@"
}

round() {
	for n in $(seq "$reports"); do
		exact "$n"
		ok "report $n of 2008 in all its figures"
	done
	golden slab-one.txt slab --file "$tmp/report-3" --sizes "$tmp/sizes-3" radix_tree_node
	ok 'a report on one cache'
	golden slab-all.txt slab --file "$tmp/report-all" --sizes "$tmp/sizes-all"
	ok 'all caches, most loss first, n/a behind them'
	shows '^used bytes  *n/a' slab --file "$tmp/report-1" dentry &&
		grep -q '^loss bytes  *n/a' "$tmp/out" &&
		grep -q '^  of it slab tails (Lpadd)  *1137200' "$tmp/out" &&
		grep -q '^note: n/a: .*--sizes' "$tmp/out"
	ok 'what a file does not hold is n/a'
	quiet slab --tsv --file "$tmp/report-all" --sizes "$tmp/sizes-all" &&
		[ "$(awk -F '\t' '!/^#/ { print $11 }' "$tmp/out" | tr '\n' ' ')" = \
			'1125280 608832 175024 167808 46320 n/a n/a ' ]
	ok 'sorted by loss, then by total'

	quiet slab --diff "$tmp/A" "$tmp/B" radix_tree_node dentry &&
		awk 'NR > 3' "$tmp/out" | sort >"$tmp/got" && sort "$tmp/want-diff" >"$tmp/want" &&
		sed 's/  */ /g' "$tmp/got" | cmp "$tmp/want" - >"$tmp/err" 2>&1
	ok 'slabs of two kernels in all their figures'
	(cd "$tmp" && golden slab-diff.txt slab --diff A B)
	ok 'what differs between two files'
	quiet slab --diff "$tmp/A" "$tmp/A" && [ "$(cat "$tmp/out")" = 'no difference' ]
	ok 'and what does not'

	# Sizes start where SLUB does with 8 CPUs. Of the names, buffer_head took 112
	# bytes. idr_layer_cache took 536: a word of bitmap, 64 pointers and a count
	# in 528 bytes, and like buffer_head a constructor's pointer. inode_cache is
	# not reproduced: the size of an inode depends on the configuration, and the
	# table does not hold it; several sizes rise from 2 to 3, several do not.
	while IFS='	' read -r what from to; do
		case $what in
		\#* | inode_cache) continue ;;
		[0-9]*)
			ends "$from" "$to" --cpus 8 "$what"
			ok "an object of $what bytes starts at order $from and ends at $to"
			ends "$from" "$to" --order "$from" "$what"
			ok "an object of $what bytes from order $from to $to"
			;;
		*)
			case $what in
			buffer_head) size=112 ;;
			idr_layer_cache) size=536 ;;
			*) size=unknown ;;
			esac
			ends "$from" "$to" --file "$tmp/orders" "$what" &&
				ends "$from" "$to" --cpus 8 "$size"
			ok "$what from order $from to $to"
			;;
		esac
	done <"$data/slub-affected-orders.tsv"
	ends 2 3 --cpus 8 592 && ends 2 2 --cpus 8 576
	ok 'inode_cache depends on its size'
	ends 0 0 --file "$tmp/orders" buffer_head_now && ends 0 0 --cpus 8 104
	ok "today's buffer_head does not rise"
	# The files before and after: 12 objects in a slab at least, with 2 CPUs.
	ends 1 2 --cpus 2 560 && ends 0 1 --cpus 2 208 && ends 0 1 --file "$tmp/A" dentry &&
		ends 1 2 --file "$tmp/A" radix_tree_node
	ok 'dentry and radix_tree_node rise as they did between the two kernels'
	golden slab-orders.txt slab --orders --file "$tmp/orders" buffer_head dentry
	ok 'what the next orders would hold'
	golden slab-orders-size.txt slab --orders --cpus 8 448 72
	ok 'the same for bare sizes'
	golden slab-orders-all.txt slab --orders --file "$tmp/orders"
	ok 'all caches that would rise'
	shows 'stays, 3 is the maximum' slab --orders --file "$tmp/orders" large
	ok 'a cache at the largest order'
	shows 'order 0 -> 1' slab --orders --max-order 1 --cpus 8 72
	ok 'a lower maximum'
	shows 'no cache with objects rises' slab --orders --file "$tmp/arm64"
	ok 'no cache that rises'

	golden slab-merged.txt slab --file "$tmp/now/slabinfo" --sys "$tmp/now/sys" one_more
	ok 'a merged cache by another of its names, and a kernel that estimates'
	(cd "$tmp" && golden slab-merged-all.txt slab --file now/slabinfo --sys now/sys)
	ok 'merged caches among all'
	quiet slab --file "$tmp/now/old.slabinfo" --sys "$tmp/now/sys" dentry &&
		! grep -q estimate "$tmp/out" && ! grep -q 'not known' "$tmp/out"
	ok 'a kernel that does not'
	shows 'which kernel' slab --file "$tmp/report-1" dentry
	ok 'an unknown kernel'
	shows 'lower order' slab --file "$tmp/now/slabinfo" dentry
	ok 'slabs of a lower order than the one of the cache'

	quiet slab --tsv --file "$tmp/large" --sizes "$tmp/large.sizes" &&
		sed 1d "$tmp/out" | tr '\t' ' ' >"$tmp/got" &&
		printf '%s\n' \
			'huge 100 104 0 1 85000000000000 2199999999998 39 9011199999991808 8500000000000000 511199999991808 87999999999920 340000000000000 5.7' \
			'big 4096 4096 3 8 4294967296 536870912 8 17592186044416 17592186044416 0 0 0 0.0' |
		cmp - "$tmp/got" >"$tmp/err" 2>&1
	ok 'numbers of more than 32 bits'
	shows '^note: pages of 65536 bytes' slab --file "$tmp/arm64" buffer_head &&
		grep -q '^total bytes  *65536$' "$tmp/out"
	ok 'pages of 64 KiB'
	# shellcheck disable=SC2086 # $sh may be two words
	PATH=$bin:$PATH timeout 5 $sh "$tool" slab --tsv --file "$tmp/many" \
		--sizes "$tmp/many.sizes" >"$tmp/out" 2>"$tmp/err" &&
		sed 1d "$tmp/out" | cut -f 11 >"$tmp/got" && [ "$(wc -l <"$tmp/got")" = 2000 ] &&
		sort -rnc "$tmp/got" 2>>"$tmp/err"
	ok '2,000 caches in less than 5 s, and in order'

	if [ -r /proc/slabinfo ]; then
		shows '^size in the slab  *[1-9]' slab dentry && shows '(all)$' slab &&
			quiet slab --orders
		ok 'this machine'
	fi
	if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && [ -e /proc/slabinfo ]; then
		unprivileged slab >"$tmp/out" 2>"$tmp/err"
		[ $? = 1 ] && [ ! -s "$tmp/out" ] && grep -q '^waitprof: .*root alone.*--file' "$tmp/err"
		ok 'without root it is said why not'
	fi

	fails 1 'no cache nosuch .*merged' slab --file "$tmp/report-1" nosuch
	ok 'a cache that is not there'
	fails 1 'no cache not_listed' slab --file "$tmp/now/slabinfo" --sys "$tmp/now/sys" not_listed
	ok 'a link to a cache that is not listed'
	fails 1 'no cache nosuch' slab --orders --file "$tmp/report-1" nosuch
	ok 'the same for its orders'
	fails 1 'nor in' slab --diff "$tmp/A" "$tmp/B" nosuch
	ok 'the same in two files'
	fails 1 'no slabinfo of version 2' slab --file "$tmp/junk"
	ok 'a file that is no slabinfo'
	fails 1 'no slabinfo of version 2' slab --file "$tmp/old.version"
	ok 'a version before the columns'
	fails 1 'is empty' slab --diff "$tmp/empty" "$tmp/A"
	ok 'an empty file'
	fails 1 'line 4 .*no line of a slabinfo' slab --file "$tmp/broken"
	ok 'a line that is cut'
	fails 1 'no such file' slab --file "$tmp/missing"
	ok 'a file that is not there'
	fails 1 'cannot have 999 bytes' slab --file "$tmp/report-1" --sizes "$tmp/wrong.sizes"
	ok 'a size that cannot be'
	fails 1 'line 1 .*object_size' slab --file "$tmp/report-1" --sizes "$tmp/junk.sizes"
	ok 'a size that is none'
	fails 1 'pages of 4096 .* of 65536' slab --diff "$tmp/A" "$tmp/arm64"
	ok 'files of two machines with other pages'
	fails 1 'no object of 8192 bytes fits' slab --orders --order 0 8192
	ok 'an order that is too small'
	fails 2 'unknown option: --nosuch' slab --nosuch
	ok 'unknown option'
	fails 2 'needs a value' slab --file
	ok 'an option without its value'
	fails 2 'two files' slab --diff "$tmp/A"
	ok 'a difference of one file'
	fails 2 '--cpus needs a number, not: many' slab --orders --cpus many
	ok 'a number that is none'
	fails 2 '10 at most' slab --orders --order 11 64
	ok 'an order that is too large'
	fails 2 'for --orders' slab --order 1
	ok 'an option of another form'
	quiet help slab && grep -q '^waitprof slab ' "$tmp/out" && cp "$tmp/out" "$tmp/help" &&
		quiet slab --help && cmp -s "$tmp/help" "$tmp/out"
	ok 'help'
}

rounds
