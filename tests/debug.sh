# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
# For the tests that want the debug kernel. They source lib.sh first.
: "${tmp:?}"

kmemleak=/sys/kernel/debug/kmemleak

# complaints: what the guest's init would fail for, but for stack traces: failed
# allocations leave some, which the kernel prints with no harm done
complaints() { dmesg | grep -E 'WARNING:|BUG:|Oops|possible (recursive|circular)|suspicious RCU|INFO: |kmemleak: .*(disabled|empty)'; }

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
