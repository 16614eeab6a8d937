#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: waitprof graph and table give the call graph and the table of 2001
# requires: sh and awk of at least one kind; no kernel module

top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
# shellcheck source-path=SCRIPTDIR source=rig
. "$top/tests/host/rig"
data=$top/tests/data

# --- what goes in -----------------------------------------------------------

# As if each function of the call graph had been tracked, and the allocations
# with their paths: one snapshot for each kernel.
for column in 2 3; do
	awk -F '\t' -v column="$column" '
	/^# function/ { kernel = $column }
	/^#/ { next }
	/\(/ {
		object = $1
		sub(/.*\(/, "", object)
		sub(/\)/, "", object)
		allocated = $column
		next
	}
	{
		calls[++n] = $column
		name[n] = $1
		path = $1 "+0x10/0x80" (n > 1 ? "<" path : "")
	}
	END {
		print "# waitprof 1 version=1.0.0 kernel=" kernel " hz=100 resets=0 realtime=1007334000.0 window_ns=1000"
		print "# objects\tallocs\tfrees\tlive\tpeak\tfailed\tolder_frees\tmissed\tunit_bytes\tnote"
		print object "\t" allocated "\t0\t" allocated "\t" allocated "\tn/a\tn/a\t0\t104\tkmem_cache_alloc,kmem_cache_free"
		for (i = 1; i <= n; i++)
			print name[i] "\t" calls[i] "\tn/a\tn/a\tn/a\tn/a\tn/a\t0\tn/a\t" name[i]
		print "# callers\tobject\tcount\tlive\tpath"
		print "caller\t" object "\t" allocated "\tn/a\t" path
	}' "$data/raw-open-callgraph-2.4.tsv" >"$tmp/kernel"
	name=$(sed -n '1s/.*kernel=\([^ ]*\).*/\1/p' "$tmp/kernel")
	mv "$tmp/kernel" "$tmp/$name"
done

# The table of 2001: a snapshot for each of its rows, ten minutes apart.
awk -F '\t' -v dir="$tmp" '!/^#/ {
	file = dir "/" $1 "." $2
	printf "# waitprof 1 version=1.0.0 kernel=%s hz=100 resets=0 realtime=%d.5 window_ns=1000\n", \
		$1, 1007334000 + 600 * n++ >file
	print "# memory low_free_kb=" ($3 ~ /^[0-9]+$/ ? $3 : "n/a") >file
	print "# objects\tallocs\tfrees\tlive\tpeak\tfailed\tolder_frees\tmissed\tunit_bytes\tnote" >file
	count = $4 == "-" ? "n/a" : $4
	print "buffer_head\tn/a\tn/a\t" count "\tn/a\tn/a\tn/a\tn/a\tn/a\tfrom slabinfo" >file
	print $1 "." $2, $1, $3, $4 >(dir "/rows")
}' "$data/raw-open-2.4.tsv"

branching=$data/objects-branching.txt
# Later in the same window: 12 more by a known path, 5 by a new one, 4 calls.
{
	sed -e 's/window_ns=60000000000/window_ns=90000000000/' \
		-e 's/realtime=1007334000/realtime=1007420461/' \
		-e 's/\(free_kb=\)247688/\1240000/g' \
		-e 's/^buffer_head	1011	1	1010/buffer_head	1028	1	1027/' \
		-e 's/^folio_bufs	300/folio_bufs	304/' \
		-e 's/\(buffer_head	\)150/\1162/' "$branching"
	printf 'caller\tbuffer_head\t5\tn/a\tfolio_alloc_buffers+0x62/0x130<new_one+0x1/0x2\n'
} >"$tmp/later"
sed 's/resets=3/resets=4/' "$tmp/later" >"$tmp/reset"
sed 's/kernel=[^ ]*/kernel=6.12.30/' "$tmp/later" >"$tmp/other"
sed 's/resets=3//' "$tmp/later" >"$tmp/silent"
# Loaded anew and reset as often; the window alone tells.
sed 's/window_ns=90000000000/window_ns=1000/' "$tmp/later" >"$tmp/anew"
sed '/^# objects/,$d' "$branching" >"$tmp/waits"
sed '/^caller/d' "$branching" >"$tmp/pathless"
sed 's/^inode	5/inode	five/' "$branching" >"$tmp/nonumber"
sed 's/^\(caller	bio	1\)	.*/\1/' "$branching" >"$tmp/cut"
sed 's/^# waitprof 1/# waitprof 2/' "$branching" >"$tmp/format2"
sed -e 's/ realtime=[^ ]*//' -e '/^# memory/d' "$tmp/waits" >"$tmp/nothing"
echo 'nothing of the kind' >"$tmp/junk"
: >"$tmp/empty"

# 2,000 paths of 30 frames that meet in one function.
awk 'BEGIN {
	print "# waitprof 1 version=1.0.0 kernel=6.1.0 resets=0"
	print "# objects\tallocs\tfrees\tlive\tpeak\tfailed\tolder_frees\tmissed\tunit_bytes\tnote"
	print "bio\t2000\t0\t2000\t2000\tn/a\tn/a\t0\tn/a\tbio_alloc,bio_put"
	print "# callers\tobject\tcount\tlive\tpath"
	for (i = 0; i < 2000; i++) {
		printf "caller\tbio\t1\tn/a\tmeet+0x1/0x2"
		for (j = 0; j < 29; j++)
			printf "<f%d_%d+0x1/0x2", j, (i * 7 + j) % (j + 1)
		print ""
	}
}' >"$tmp/many"

# --- one round --------------------------------------------------------------

round() {
	cd "$tmp" || exit 1
	for kernel in 2.4.6-Test 2.4.16-Test; do
		golden "graph-$kernel.txt" graph buffer_head "$kernel" &&
			grep -q ', 1024 per call$' "$tmp/out"
		ok "the call graph of 2001, $kernel"
		# Every function with its calls, in the order of the table.
		column=2
		[ "$kernel" = 2.4.6-Test ] || column=3
		tr '\n' ' ' <"$tmp/out" | sed 's/ *→ */\n/g; s/,.*//' >"$tmp/got"
		[ "$(cat "$tmp/got")" = "$(awk -F '\t' -v c=$column '!/^#/ { sub(/.*\(/, "", $1); sub(/\)/, "", $1); print $1, $c }' "$data/raw-open-callgraph-2.4.tsv")" ]
		ok "and all its numbers, $kernel"
	done
	golden graph-tree.txt graph --tree 2.4.6-Test
	ok 'the same as a tree, with 46 kiobufs for 1042 opens'
	golden graph-branching.txt graph buffer_head "$branching"
	ok 'paths that branch, meet, recurse and are cut; unknown calls'
	golden graph-objects.txt graph "$branching"
	ok 'all objects that have paths, up to 2^53'
	golden graph-difference.txt graph buffer_head -d "$branching" later
	ok 'the difference of two snapshots'
	quiet graph buffer_head - <"$branching" && cmp -s "$expects/graph-branching.txt" "$tmp/out"
	ok 'a snapshot from standard input'
	shows '^kiobuf n/a: no alloc_kiovec in this kernel$' graph kiobuf "$branching"
	ok 'an object that cannot be had, and why'
	shows '^inode 5, no call paths$' graph inode "$branching"
	ok 'an object without paths'
	shows '^no object has call paths$' graph pathless
	ok 'a snapshot without paths'
	shows '^no object has call paths$' graph -d "$branching" "$branching"
	ok 'no difference'
	# shellcheck disable=SC2086 # $sh may be two words
	PATH=$bin:$PATH timeout 5 $sh "$tool" graph many >"$tmp/out" 2>"$tmp/err" &&
		grep -q '^ *meet -> bio  *n/a  *2000  *n/a$' "$tmp/out"
	ok '2,000 paths of 30 frames in less than 5 s'

	# shellcheck disable=SC2046 # names without blanks
	golden table-2.4.txt table $(cut -d' ' -f1 rows)
	ok 'the table of 2001'
	while read -r file kernel free count; do
		[ "$free" != too-low ] || free=n/a
		[ "$count" != - ] || count=n/a
		grep -Eq "^$file .* $kernel +$free +$count\$" "$tmp/out" || echo "$file" >>"$tmp/err"
	done <rows
	[ ! -s "$tmp/err" ]
	ok 'in all its numbers'
	golden table-now.txt table before="$branching" later
	ok 'a table of two snapshots'
	golden table-one.txt table "$branching"
	ok 'a table of one'
	golden table-reset.txt table "$branching" reset
	ok 'a reset between is said'
	shows '^'"$branching"' ' table "$branching" "$branching"
	ok 'files of one name are told apart'
	quiet table nothing && [ "$(sed 1d "$tmp/out")" = "$(printf 'snapshot\nnothing')" ]
	ok 'a table of a snapshot with nothing in it'

	fails 1 'no object nosuch .*buffer_head' graph nosuch "$branching"
	ok 'an object that is not there'
	fails 1 'no section "# objects"' graph waits
	ok 'a snapshot without objects'
	fails 1 'a reset lies between.*resets=3.*resets=4' graph -d "$branching" reset
	ok 'a reset between the two'
	fails 1 'two kernels' graph -d "$branching" other
	ok 'two kernels'
	fails 1 'does not say its resets' graph -d "$branching" silent
	ok 'resets unknown'
	fails 1 'shorter window' graph -d "$branching" anew
	ok 'loaded anew between the two'
	fails 1 'shorter window' graph -d later "$branching"
	ok 'in the wrong order'
	for command in graph table; do
		fails 1 'no snapshot' $command junk
		ok "$command: a file that is no snapshot"
		fails 1 'empty' $command ./empty
		ok "$command: an empty file"
		fails 1 'later format' $command format2
		ok "$command: a later format"
		fails 1 'neither a number nor n/a: five' $command nonumber
		ok "$command: a counter that is none"
		fails 1 'no call path' $command cut
		ok "$command: a line that is cut"
		fails 1 'no such file' $command ./missing
		ok "$command: a file that is not there"
		fails 2 'unknown option: --nosuch' $command --nosuch
		ok "$command: unknown option"
		quiet help $command && cp out help && grep -q "^waitprof $command " out &&
			quiet $command --help && cmp -s help out
		ok "$command: help"
	done
	fails 2 'two snapshots' graph -d "$branching"
	ok 'a difference of one'
	fails 2 'no other snapshot' graph -d "$branching" later ./later
	ok 'a difference of three'
	fails 2 'one snapshot' graph buffer_head later later
	ok 'two snapshots'
	fails 2 'which snapshots' table
	ok 'a table of none'
}

rounds
