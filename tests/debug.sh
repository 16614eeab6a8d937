# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# For the tests that want the debug kernel. They source lib.sh first.
: "${tmp:?}"

debug=/sys/kernel/debug
proc=/proc/waitprof
# Small tables: each page of a large one would be a try of its own.
# shellcheck disable=SC2034 # for the tests
small="rows=8 slots=64 alloc_paths=8 objects=1024 maxactive=16"
kmemleak=$debug/kmemleak

# complaining: of the lines of a log, those that the guest's init would fail for;
# but for stack traces: failed allocations leave some, with no harm done
complaining() { grep -E 'WARNING:|BUG:|Oops|possible (recursive|circular)|suspicious RCU|INFO: |kmemleak: .*(disabled|empty)'; }
complaints() { dmesg | complaining; }

# no_complaints NAME: then the log is emptied, so that the traces do not fail the guest
no_complaints() {
	is "$1: the kernel does not complain" "$(complaints)" ""
	dmesg -c >/dev/null
}

# lockdep_on NAME: it is off for good after its first report, or when it has run
# out of memory
lockdep_on() { is "$1: lockdep is on" "$(awk '$1 == "debug_locks:" { print $2 }' /proc/lockdep_stats)" 1; }

# leaks_forget; leaks FILE: what has been allocated since and has no pointer to
# it. An object must be 5 s old; what only looked like a leak is gone at a second
# scan.
leaks_forget() {
	echo scan >$kmemleak
	echo clear >$kmemleak
}
leaks() {
	sleep 6
	echo scan >$kmemleak
	sleep 1
	echo scan >$kmemleak
	cat $kmemleak >"$tmp/$1"
}

# no_leaks NAME
no_leaks() {
	leaks leaks
	[ ! -s "$tmp/leaks" ] || sed 's/^/# /' "$tmp/leaks" | head -n 40
	is "$1: kmemleak finds nothing" "$(grep -c '^unreferenced' "$tmp/leaks")" 0
}

# probes: kprobes that are in place, by name
probes() { awk '{ sub(/\+.*/, "", $3); print $3 }' $debug/kprobes/list | sort | tr '\n' ' '; }
# pairs: of a pair both, or none
pairs() {
	for pair in alloc_buffer_head:free_buffer_head bio_alloc_bioset:bio_put; do
		[ "$(probes | grep -cw "${pair%:*}")" = "$(probes | grep -cw "${pair#*:}")" ] || echo "half a pair: $pair"
	done
}
# gone: what should not be there when the module is not; $others are not its kprobes
others=''
gone() {
	[ ! -e $proc ] || echo "$proc is there"
	[ ! -e /sys/module/waitprof ] || echo "the module is there"
	[ -z "$others$(cat $debug/kprobes/list)" ] || [ "$(probes)" = "$others" ] || echo "kprobes: $(probes)"
}

# readable: what is wrong with the file
readable() {
	snap s
	LC_ALL=C awk -v release="$(uname -r)" -f ./format.awk "$tmp/s" 2>&1
}

# now: what must be as it was when a call fails: state, resets, objects, kprobes
now() {
	readable
	pairs
	echo "$(word s state) $(word s resets) $(awk '/^# callers/ { exit } at { print $1 } /^# objects/ { at = 1 }' "$tmp/s" | tr '\n' ' ') $(probes)"
}
