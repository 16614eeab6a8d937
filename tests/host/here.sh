#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: waitprof here gives the listings of 2001 back, byte for byte
# requires: sh and awk of at least one kind; no kernel module

top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
tool=$top/scripts/waitprof
data=$top/tests/data
LC_ALL=C
export LC_ALL

tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

nr=0
failed=0

# ok NAME: by the status of the command before it.
ok() {
	status=$?
	nr=$((nr + 1))
	if [ "$status" -eq 0 ]; then
		echo "ok $nr - $kind: $1"
	else
		echo "not ok $nr - $kind: $1"
		failed=1
		[ ! -s "$tmp/err" ] || sed 's/^/# /' "$tmp/err"
	fi
}

skip() {
	nr=$((nr + 1))
	echo "ok $nr # SKIP $1: $2"
}

# The tool under the shell and the awk of this round.
run() {
	# $sh may be two words.
	# shellcheck disable=SC2086
	PATH=$bin:$PATH $sh "$tool" "$@"
}

# fails STATUS PATTERN ARGS...: one line of error that matches, and no output.
fails() {
	want=$1
	pattern=$2
	shift 2
	run "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	[ $? -eq "$want" ] && [ ! -s "$tmp/out" ] &&
		[ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		grep -q "^waitprof: .*$pattern" "$tmp/err"
}

# gives FILE ARGS...: exactly that output, and no error.
gives() {
	expect=$1
	shift
	run "$@" >"$tmp/out" 2>"$tmp/err" && [ ! -s "$tmp/err" ] &&
		cmp "$expect" "$tmp/out" >>"$tmp/err" 2>&1
}

# --- what goes in -----------------------------------------------------------

for n in first second; do
	grep ' HERE' "$data/here-2.4.7-$n.txt" >"$tmp/$n.rows"
	grep -v ' HERE' "$data/here-2.4.7-$n.txt" | grep . >"$tmp/$n.map"
	sort -u "$tmp/$n.map" >"$tmp/$n.sorted"
	sort -r "$tmp/$n.map" >"$tmp/$n.reverse"
done

# A snapshot of today: more columns, other sections, two rows of one address
# (twice), pseudo-sites, aliases, a module, the first and the last symbol.
printf '%s\n' \
	'ffffffff81000100 T same_b' \
	'ffffffff81000040 T low' \
	'ffffffff81000100 t same_a' \
	'ffffffff81000100 T same_c' \
	'ffffffff81000200 T above' \
	'ffffffff81000200 W above_alias' \
	'7fffffffffffffff A below_all' \
	'ffffffffc0000000 t mod_fn	[mod]' >"$tmp/now.map"
cat >"$tmp/now.rows" <<'EOF'
# waitprof 1 version=1.0.0 kernel=6.1.0 hz=250 state=on
# waits	-	-	jiffies	site	class	tasks	waits
ffffffff81000180 HERE			4000000000	same_c+0x80/0x100	D	user	5
ffffffffc0000010 HERE			1	mod_fn+0x10/0x20 [mod]	S	user	5
ffffffff81000180 HERE			4000000001	same_c+0x80/0x100	S	user	5
0000000000000000 HERE			17	(other)	-	-	1
ffffffff81000200 HERE			0	above+0x0/0x10	S	user	5
ffffffff81000050 HERE			2	low+0x10/0xc0	S	user	5
ffffffffc0000010 HERE			3	mod_fn+0x10/0x20 [mod]	S	kernel	5
ffffffff81000051 HERE			3	low+0x11/0xc0	S	user	5
# objects	allocs	frees	live
buffer_head	1337344	0	1337344
caller	buffer_head	1	n/a	HERE+0x1/0x2<low+0x1/0x2
EOF
cat >"$tmp/now.expect" <<'EOF'
ffffffff81000100 t same_a
ffffffff81000180 HERE			8000000001
ffffffff81000200 T above

ffffffffc0000000 t mod_fn	[mod]
ffffffffc0000010 HERE			4

ffffffff81000200 W above_alias
ffffffff81000200 HERE			0
ffffffffc0000000 t mod_fn	[mod]

ffffffff81000040 T low
ffffffff81000050 HERE			2
ffffffff81000100 T same_b

ffffffff81000040 T low
ffffffff81000051 HERE			3
ffffffff81000100 T same_b
EOF
# Two addresses that differ in the last bit only: equal as floating point.
printf 'fffffffffffffff0 T a\nfffffffffffffff1 T b\nfffffffffffffff3 T c\n' \
	>"$tmp/close.map"
printf 'fffffffffffffff1 HERE\t\t\t1\nfffffffffffffff2 HERE\t\t\t2\n' \
	>"$tmp/close.rows"
cat >"$tmp/close.expect" <<'EOF'
fffffffffffffff1 T b
fffffffffffffff1 HERE			1
fffffffffffffff3 T c

fffffffffffffff1 T b
fffffffffffffff2 HERE			2
fffffffffffffff3 T c
EOF
sed 's/^[0-9a-f]* HERE/0000000000000000 HERE/' "$tmp/now.rows" >"$tmp/hidden.rows"
sed 's/^[0-9a-f]*/0000000000000000/' "$tmp/now.map" >"$tmp/hidden.map"
grep -E '^#|\(other\)' "$tmp/now.rows" >"$tmp/quiet.rows"
echo 'nothing of the kind' >"$tmp/junk"
printf 'c0138515 HERE\t\t\tmany\n' >"$tmp/nonumber.rows"
: >"$tmp/empty"

# As large as a kallsyms: 200,000 symbols, 2000 rows, in no order.
awk 'BEGIN {
	for (i = 0; i < 200000; i++)
		printf "ffffffff8%07x t sym_%d\n", (i * 7919 % 200000) * 64, i
}' >"$tmp/large.map"
awk -v rows="$tmp/large.rows" 'BEGIN {
	for (i = 0; i < 2000; i++) {
		at = i * 7907 % 199999 * 64
		printf "ffffffff8%07x HERE\t\t\t%d\n", at + 21, i >rows
		printf "%sffffffff8%07x\nffffffff8%07x HERE\t\t\t%d\nffffffff8%07x\n", \
			i ? "\n" : "", at, at + 21, i, at + 64
	}
}' >"$tmp/large.expect"

# --- one round --------------------------------------------------------------

round() {
	for n in first second; do
		for map in map sorted reverse; do
			gives "$data/here-2.4.7-$n.txt" \
				here --map "$tmp/$n.$map" "$tmp/$n.rows"
			ok "the $n listing of 2001 from its $map"
		done
	done
	gives "$data/here-2.4.7-first.txt" here "--map=$tmp/first.map" - \
		<"$tmp/first.rows"
	ok 'the snapshot from standard input'
	gives "$tmp/now.expect" here --map "$tmp/now.map" "$tmp/now.rows"
	ok 'rows of one address added up, pseudo-sites left out, aliases, a module'
	gives "$tmp/close.expect" here "$tmp/close.rows" --map "$tmp/close.map"
	ok '64-bit addresses compared in all their digits'
	gives "$tmp/empty" here --map "$tmp/now.map" "$tmp/quiet.rows"
	ok 'a snapshot with pseudo-sites only is an empty listing'

	fails 1 'CAP_SYSLOG.*kptr_restrict' here --map "$tmp/now.map" "$tmp/hidden.rows"
	ok 'hidden addresses in the snapshot: said why'
	fails 1 'map.*CAP_SYSLOG.*kptr_restrict' here --map "$tmp/hidden.map" "$tmp/now.rows"
	ok 'hidden addresses in the map: said why'
	fails 1 'another kind of machine' here --map "$tmp/now.map" "$tmp/first.rows"
	ok '32-bit rows and a 64-bit map'
	fails 1 'no symbols' here --map "$tmp/empty" "$tmp/first.rows"
	ok 'an empty map'
	fails 1 'no snapshot' here --map "$tmp/now.map" "$tmp/junk"
	ok 'a file that is no snapshot'
	fails 1 'no row' here --map "$tmp/now.map" "$tmp/nonumber.rows"
	ok 'a row without a number'
	fails 1 'no such file' here --map "$tmp/missing" "$tmp/now.rows"
	ok 'a map that is not there'
	fails 1 'no such file' here --map "$tmp/now.map" "$tmp/missing"
	ok 'a snapshot that is not there'

	fails 2 'unknown command: nosuch' nosuch
	ok 'unknown command'
	fails 2 'which command'
	ok 'no command'
	fails 2 'unknown option: -x' here -x
	ok 'unknown option'
	fails 2 'needs a file' here --map
	ok 'an option without its value'
	fails 2 'one snapshot' here "$tmp/now.rows" "$tmp/now.rows"
	ok 'two snapshots'
	fails 2 'unknown command: nosuch' help nosuch
	ok 'help on an unknown command'
	run --help >"$tmp/out" 2>"$tmp/err" && grep -q '^waitprof here ' "$tmp/out" &&
		[ ! -s "$tmp/err" ]
	ok 'help names the commands'

	# $sh may be two words.
	# shellcheck disable=SC2086
	PATH=$bin:$PATH timeout 3 $sh "$tool" here --map "$tmp/large.map" \
		"$tmp/large.rows" >"$tmp/out" 2>"$tmp/err"
	ok '200,000 symbols and 2,000 rows in less than 3 s'
	sed 's/ t .*//' "$tmp/out" | cmp - "$tmp/large.expect" >"$tmp/err" 2>&1
	ok 'and all of them right'
}

# with KIND SHELL AWK [MULTI-CALL PROGRAM]
with() {
	kind=$1
	sh=$2
	bin=$tmp/bin-$1
	mkdir "$bin"
	for program in ${2%% *} "$3" ${4-}; do
		command -v "$program" >/dev/null && continue
		skip "$kind" "$program is not installed"
		return
	done
	if [ $# -gt 3 ]; then
		for applet in awk sort cat; do
			ln -s "$(command -v "$4")" "$bin/$applet"
		done
	else
		ln -s "$(command -v "$3")" "$bin/awk"
	fi
	round
}

with dash dash awk
with busybox 'busybox sh' busybox busybox
with mawk sh mawk
with gawk sh gawk

echo "1..$nr"
exit "$failed"
