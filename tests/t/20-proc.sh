# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# description: /proc/waitprof: reading in all ways, its format, malformed writes, who may do what
# shellcheck source=tests/lib.sh
. ./lib.sh

proc=/proc/waitprof

# err COMMAND...: what it says on its standard error, the last word of it
err() { "$@" 2>&1 >/dev/null | sed -n '$s/.*: //p'; }

# rows FILE: without the headings; counters FILE: all that a write may not lower
rows() { sed -n '/^# waits/,/^# objects/p' "$tmp/$1" | grep -v '^#'; }
state() { echo "$(word "$1" state) $(word "$1" hook) $(word "$1" resets) $(word "$1" cut)"; }

fixtures
load check=1 || done_testing
# Rows of several kinds, and one that is by far the longest.
wpfix sleepers 150 600 >"$tmp/sleepers" &
sleepers=$!
for name in msleep usleep completion mutex schedule timeout_idle wait_on_bit_io kthread; do
	fixture $name 3 5
done
until grep -q ready "$tmp/sleepers"; do sleep 0.1; done

# --- reading: one snapshot an open (field cases D1, D2) -----------------------

# reads NAME: 1 byte, 31 bytes, 4 KiB, 1 MiB, all by one descriptor
reads() {
	wpfix rereads $proc 65536 1 31 4096 1048576 >"$tmp/reads"
	while read -r size bytes calls same; do
		is "$1: read by $size: the same bytes" "$same" same
		holds "$1: read by $size: in pieces of that size" \
			"$bytes > 1000 && $calls >= $bytes / $size && ($size > 31 || $calls <= $bytes / $size + 1)"
	done <"$tmp/reads"
	is "$1: all sizes read" "$(wc -l <"$tmp/reads")" 5
}
reads on

wpfix lseektest $proc >"$tmp/seek"
size=$(sed -n 's/^size\t//p' "$tmp/seek")
for want in "read-past-end 0 same" "seek-0 0 0" "reread $size same" "seek-5 5 0" \
	"read-from-5 $((size - 5)) same" "read-from-huge 0 same" "seek-negative -1 EINVAL" \
	"seek-0-again 0 0" "pread-0 64 same" "pread-1 64 same" "pread-huge 0 same" \
	"read-after-pread $size same"; do
	is "lseek and pread: ${want%% *}" "$(grep "^${want%% *}	" "$tmp/seek" | tr '\t' ' ')" "$want"
done
is "lseek from the end is refused or 0" "$(awk '$1 == "seek-end" && ($3 == "EINVAL" || $2 == 0) { print "so" }' "$tmp/seek")" so

echo off >$proc
reads off
snap a
snap b
check "off: two opens give the same rows" cmp -s /dev/fd/3 /dev/fd/4 3<<A 4<<B
$(rows a)
A
$(rows b)
B
for bs in 1 31 4096 1048576; do
	wpfix readsizes $proc $bs >"$tmp/b"
	is "off: another open, read by $bs: the same rows" "$(rows b | md5sum)" "$(rows a | md5sum)"
done
is "tail -n1 gives the last row" "$(tail -n1 $proc)" "$(tail -n1 "$tmp/a")"
is "tail -c 10 gives the last 10 bytes" "$(tail -c 10 $proc)" "$(tail -c 10 "$tmp/a")"
is "head -n1 gives the first line" "$(head -n1 $proc | cut -c1-30)" "$(head -n1 "$tmp/a" | cut -c1-30)"
is "head gives the first rows" "$(head -n 10 $proc | grep -v '^#')" "$(head -n 10 "$tmp/a" | grep -v '^#')"
# The headings may grow by a digit between two opens.
for _try in 1 2 3; do
	cat $proc >"$tmp/b"
	dd if=$proc bs=100 skip=11 2>/dev/null | tail -c +200 >"$tmp/dd"
	tail -c +1300 "$tmp/b" >"$tmp/want"
	! cmp -s "$tmp/dd" "$tmp/want" || break
done
check "dd skip=11 gives what comes behind" cmp "$tmp/dd" "$tmp/want"
check "dd skip past the end gives nothing" test -z "$(dd if=$proc bs=1000000 skip=5 2>/dev/null)"

# --- on and off that change nothing, and resets meanwhile ------------------------

snap a
echo off >$proc
snap b
is "off while off changes nothing" "$(state b) $(word b window_ns) $(rows b | md5sum)" \
	"$(state a) $(word a window_ns) $(rows a | md5sum)"
holds "off has cut the waits in flight, and says so" "$(word a cut) >= 150"
echo on >$proc
snap a
is "on keeps what was counted" "$(sum a waits wp_fx_msleep) $(word a state)" "3 on"
echo on >$proc
snap b
is "on while on changes nothing" "$(state b) $(sum b waits wp_fx_msleep)" "$(state a) 3"
holds "on while on: the window goes on" "$(word b window_ns) > $(word a window_ns)"
holds "on while on: the sleepers' waits go on" \
	"$(sum b oldest_ns "$nanosleep") > $(sum a oldest_ns "$nanosleep")"

# --- format ----------------------------------------------------------------------

for state in on off on; do
	echo $state >$proc
	snap s
	is "the state is $state" "$(word s state)" $state
	format_holds "$state" s
done
holds "rows of every kind are there" "$(grep -c HERE "$tmp/s") >= 15"
# A wait on a line that is no row would be found by the grep of 2001.
is "HERE stands on the rows alone" "$(grep -c HERE "$tmp/s")" "$(rows s | wc -l)"
for breakage in 's/\t\t\t/\t\t/' 's/^# lost no_slot=/# lost no_slots=/' '/(other)/d' \
	's/\tD\t/\tX\t/' '/wp_fx_msleep/s/\t3\t/\t4\t/' '5,$!b;6{h;d};7G' 's/jiffies/jiffy/'; do
	sed "$breakage" "$tmp/s" >"$tmp/broken"
	check "the format check finds $breakage" test -n \
		"$(LC_ALL=C awk -v release="$(uname -r)" -f ./format.awk "$tmp/broken")"
done

# --- the listing of 2001 -----------------------------------------------------------

# behind FILE: rows of a sorted listing that do not stand behind their symbol.
# Symbols of one address are equal; a row may stand behind another row.
behind() {
	LC_ALL=C awk -F '\t' '
	/^[0-9a-f]+ HERE\t/ {
		fn = $5
		sub(/\+.*/, "", fn)
		if ($1 ~ /^0+ /) next
		n++
		if (!(fn in at)) print "behind " name ": " $1 "\t" $5
		next
	}
	/^[0-9a-f]+ . / {
		split($1, w, " ")
		if (w[1] != addr) { split("", at); addr = w[1] }
		name = w[3]
		at[name] = 1
	}
	END { if (n < 10) print n + 0 " rows" }' "$tmp/$1"
}
kptr=$(cat /proc/sys/kernel/kptr_restrict)
export LC_ALL=C
cat /proc/kallsyms $proc | sort >"$tmp/sorted"
grep -B1 -A1 HERE "$tmp/sorted" >"$tmp/here"
is "cat kallsyms waitprof | sort | grep -B1 -A1 HERE: each row is behind its symbol" "$(behind here)" ""
sed 's/wp_fx_msleep+/wp_fx_usleep+/' "$tmp/here" >"$tmp/wrong"
check "a wrong symbol would be found" test -n "$(behind wrong)"
unset LC_ALL

snap s
first=$(sed -n '/HERE/{p;q}' "$tmp/s" | cut -f5)
is "the longest row is the one with the 150 sleepers" "${first%%+*}" "$nanosleep"
waitprof here >"$tmp/here"
is "waitprof here: the longest row is behind its function" \
	"$(sed -n '1s/^[0-9a-f]* . //p' "$tmp/here")" "${first%%+*}"
is "waitprof here: and has the address of that row" "$(sed -n '2s/ .*//p' "$tmp/here")" \
	"$(sed -n '/HERE/{s/ .*//p;q}' "$tmp/s")"

# Field case A4: a probe on an entry with ENDBR stands 4 bytes behind it.
# addresses FILE: rows whose address is not that of the symbol and the offset.
# Only the last 8 digits: a double holds no more.
addresses() {
	LC_ALL=C awk -F '\t' '
	function hex(s,  i, n) {
		s = substr(s, length(s) > 8 ? length(s) - 7 : 1)
		for (i = 1; i <= length(s); i++)
			n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return n
	}
	NR == FNR {
		if (/ HERE\t/ && $1 !~ /^0+ /) {
			fn[NR] = off[NR] = $5
			sub(/\+.*/, "", fn[NR])
			sub(/.*\+0x/, "", off[NR])
			sub(/\/.*/, "", off[NR])
			want[fn[NR]] = 1
			addr[NR] = substr($1, 1, 16)
		}
		next
	}
	{
		split($1, w, " ")
		if (w[3] in want) start[w[3], hex(w[1])] = 1
	}
	END {
		for (i in fn) {
			n++
			if (!((fn[i], (hex(addr[i]) - hex(off[i]) + 4294967296) % 4294967296) in start))
				print addr[i], fn[i], off[i]
		}
		if (n < 10) print n + 0 " rows"
	}' "$tmp/$1" /proc/kallsyms
}
is "every address is that of its symbol and offset" "$(addresses s)" ""

# --- malformed writes (field case D3) ------------------------------------------------

total() { awk -F '\t' '/ HERE\t/ { n += $8; t += $9 } END { printf "%.0f %.0f\n", n, t }' "$tmp/$1"; }

# unchanged NAME: since snapshot a, but for time
unchanged() {
	snap b
	is "$1: changes nothing" "$(state b)" "$(state a)"
	holds "$1: no counter is lower" "$(word b window_ns) > $(word a window_ns) && \
		$(total b | cut -d' ' -f1) >= $(total a | cut -d' ' -f1) && \
		$(total b | cut -d' ' -f2) >= $(total a | cut -d' ' -f2) && $(sum b waits wp_fx_msleep) == 3"
}

fixture msleep 1 1
reset
fixture msleep 3 5
snap a
for want in "empty -1 EINVAL" "nul -1 EINVAL" "len-16 -1 EINVAL" "len-255 -1 EINVAL" \
	"len-256 -1 EINVAL" "len-257 -1 EINVAL" "len-4096 -1 EINVAL" "len-1048576 -1 EINVAL" \
	"huge-zero -1 EINVAL" "null-pointer -1 EFAULT" "read-only -1 EBADF" \
	"pieces-reset -1 EINVAL" "edge-across -1 EFAULT"; do
	is "write ${want%% *}" "$(wpfix badwrite $proc "${want%% *}" | tr '\t' ' ')" "$want"
done
unchanged "these writes"
# Over-long ones are not copied: 1 MiB takes no longer than 256 bytes.
for text in RESET 'reset\n\n' ' reset' 'reset ' 'reset\0' '00' '1' 'on\non' '\n' 'offf' 'resetreset' \
	'track' 'nonsense' '0\n0'; do
	# shellcheck disable=SC2059 # escapes are meant
	is "write '$text'" "$(printf "$text" | wpfix put $proc | tr '\t' ' ')" "put -1 EINVAL"
done
unchanged "these commands"

# resets NAME N: there were N more since snapshot a, and the fixture's row is empty
resets() {
	snap b
	is "$1: resets" "$(($(word b resets) - $(word a resets))) $(sum b waits wp_fx_msleep)" "$2 0"
}
for text in reset 'reset\n' 0 '0\n'; do
	fixture msleep 1 1
	snap a
	holds "before '$text' there is something" "$(sum a waits wp_fx_msleep) >= 1"
	# shellcheck disable=SC2059
	is "write '$text'" "$(printf "$text" | wpfix put $proc | tr '\t' ' ')" \
		"put $(printf "$text" | wc -c) 0"
	resets "'$text'" 1
done
# Two commands by the kernel's own loop: the first is done, the second refused.
for want in "edge-inside 2 0 1" "0 1 0 1" "0-newline 2 0 1" "pieces-0-newline 1 0 1" \
	"two-writers 2000 0 2000"; do
	[ "${want%% *}" != two-writers ] || echo 1 >/sys/kernel/rcu_expedited
	fixture msleep 1 1
	snap a
	is "write ${want%% *}" "$(wpfix badwrite $proc "${want%% *}" | tr '\t' ' ') ${want##* }" "$want"
	resets "${want%% *}" "${want##* }"
done
echo 0 >/sys/kernel/rcu_expedited
snap s
format_holds "after all this" s

# --- who may -------------------------------------------------------------------------

is "mode of the file" "$(stat -c '%a %u %g' $proc)" "600 0 0"
for who in "asuser|Permission denied" "nocaps|Operation not permitted" \
	"without 21,38|Operation not permitted"; do
	# shellcheck disable=SC2086 # words
	{
		is "${who%|*}: may not read" "$(err wpfix ${who%|*} cat $proc)" "${who#*|}"
		is "${who%|*}: may not write" "$(err wpfix ${who%|*} sh -c "echo reset >$proc")" "${who#*|}"
	}
done
is "CAP_PERFMON alone reads" "$(wpfix without 21 grep -c '^# waitprof 1 ' $proc)" 1
is "CAP_PERFMON alone may not write" "$(err wpfix without 21 sh -c "echo reset >$proc")" "Operation not permitted"
is "CAP_SYS_ADMIN alone reads" "$(wpfix without 38 grep -c '^# waitprof 1 ' $proc)" 1
is "user 0 of another user name space may not read" "$(err unshare -Ur cat $proc)" "Operation not permitted"
is "nor write" "$(err unshare -Ur sh -c "echo reset >$proc")" "Operation not permitted"
# shellcheck disable=SC2016 # for the other shell
is "opened for writing alone: cannot be read" "$(err sh -c 'cat <&3' 3>$proc)" "Bad file descriptor"
snap b
is "nobody of these has reset" "$(word b resets)" "$(word s resets)"

# shown: which rows have an address, which have none (but for those in brackets)
shown() {
	awk -F '\t' '/ HERE\t/ {
		if ($1 !~ /^0+ /) a++
		else if ($5 !~ /^\(/) z++
		if ($5 ~ /\+0x/) n++
	} END { print (a > 5 ? "addresses" : a + 0), (z > 5 ? "zeros" : z + 0), (n > 5 ? "names" : n + 0) }'
}
for restrict in 0 1 2; do
	echo $restrict >/proc/sys/kernel/kptr_restrict
	case $restrict in 2) want="0 zeros names" ;; *) want="addresses 0 names" ;; esac
	is "kptr_restrict=$restrict: root sees" "$(cat $proc | shown)" "$want"
	is "kptr_restrict=$restrict: without CAP_SYSLOG" "$(wpfix nosyslog cat $proc | shown)" "0 zeros names"
	wpfix nosyslog cat $proc >"$tmp/s"
	format_holds "kptr_restrict=$restrict, without CAP_SYSLOG" s
	# What counts is who opened, not who reads.
	is "kptr_restrict=$restrict: opened by root, read by another" "$(wpfix asuser cat <$proc | shown)" "$want"
done
echo "$kptr" >/proc/sys/kernel/kptr_restrict

memo_holds "at the end" b 1000
# Each is a stack that is unwound for real, under the run-queue lock or not.
holds "at the end: few walks miss the memo" "$(word b memo_misses) <= 300"
kill "$sleepers"
wait "$sleepers" 2>/dev/null
rmmod wp_fixture
done_testing
