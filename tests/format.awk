# SPDX-License-Identifier: GPL-2.0
# Is a snapshot of /proc/waitprof well formed? Prints what is not, a line each.
#
#	LC_ALL=C awk -v release="$(uname -r)" [-v again=1] -f format.awk SNAPSHOT
#
# again=1: rows of a module that was loaded again may be there more than once.

BEGIN {
	FS = "\t"
	columns = "# waits\t-\t-\tjiffies\tsite\tclass\ttasks\twaits\ttotal_ns\trunq_ns\tmax_ns\tin_flight\tin_flight_ns\toldest_ns\toldest_pid\thist"
	must[1] = "version kernel hz cpus state hook resets realtime window_ns window_jiffies"
	must[2] = "total_kb free_kb available_kb low_free_kb buffers_kb cached_kb slab_kb slab_reclaimable_kb"
	must[3] = "no_slot other late clock_steps racing cut"
	section = "head"
}

function bad(why) {
	print "line " NR ": " why ": " $0
}

function number(s) {
	return s ~ /^(0|[1-9][0-9]*)$/
}

# floor(ns * HZ / 1e9), in steps that a double holds
function jiffies(ns,  sec) {
	sec = int(ns / 1000000000)
	return sec * hz + int((ns - sec * 1000000000) * hz / 1000000000)
}

# The least length in bucket b, ns.
function least(b,  ns) {
	for (ns = b ? 1000 : 0; b > 0; b--)
		ns *= 2
	return ns
}

# "# key=value ..." from word number from on.
function words(from,  n, w, i, k) {
	n = split($0, w, " ")
	for (i = from; i <= n; i++) {
		if (w[i] !~ /^[a-z_]+=[^=]+$/) {
			bad("no key=value: " w[i])
			continue
		}
		k = substr(w[i], 1, index(w[i], "=") - 1)
		if ((NR, k) in said)
			bad("twice: " k)
		said[NR, k] = 1
		word[k] = substr(w[i], length(k) + 2)
	}
}

function has(keys,  n, w, i) {
	n = split(keys, w, " ")
	for (i = 1; i <= n; i++)
		if (!(w[i] in word))
			bad("missing: " w[i])
		else if (w[i] !~ /^(version|kernel|state|hook|realtime)$/ && !number(word[w[i]]))
			bad("no number: " w[i])
}

function row(  n, b, i, sum, low, top, was, pair, key, order) {
	rows++
	if (NF != 16)
		return bad(NF " columns, not 16")
	if ($1 !~ /^[0-9a-f]+ HERE$/ || length($1) != 21)
		bad("column 1")
	if ($2 != "" || $3 != "")
		bad("columns 2 and 3 are not empty")
	if ($5 !~ /^[^ \t]+\+0x[0-9a-f]+\/0x[0-9a-f]+( \[[^ \t]+\])?$/ && $5 !~ /^\([a-z ]+\)$/)
		bad("site")
	if ($5 ~ /^\((other|unknown)\)$/ && $1 !~ /^0+ /)
		bad("a site in brackets has an address")
	if ($5 == "(other)") {
		others++
		if ($6 != "-" || $7 != "-")
			bad("class and tasks of (other)")
	} else {
		if ($6 !~ /^[SDITtPLF](io)?$/)
			bad("class")
		if ($7 !~ /^(user|kernel)$/)
			bad("tasks")
		if (!$8 && !$12)
			bad("a row with nothing in it")
	}
	for (i = 8; i <= 15; i++)
		if (!number($i) && !(i == 10 && $i == "n/a"))
			return bad("column " i " is no number")
	if (!number($4) || $4 != jiffies($9))
		bad("jiffies are not " jiffies($9))
	if (($10 != "n/a" && $10 + 0 > $9 + 0) || $11 + 0 > $9 + 0)
		bad("a part is larger than the total")
	if ($11 * $8 < $9 + 0)
		bad("the maximum is less than the mean")
	if (!$12 && ($13 + 0 || $14 + 0 || $15 + 0))
		bad("nothing in flight, yet not 0")
	if ($14 > word["window_ns"] && !$12)
		bad("oldest")

	# hist
	if (($16 == "-") != ($8 + 0 == 0))
		bad("hist and waits")
	if ($16 != "-") {
		was = -1
		n = split($16, pair, ",")
		for (i = 1; i <= n; i++) {
			if (pair[i] !~ /^[0-9]+:[1-9][0-9]*$/)
				return bad("hist: " pair[i])
			split(pair[i], b, ":")
			if (b[1] + 0 <= was || b[1] > 31)
				bad("hist: order of buckets")
			was = b[1] + 0
			sum += b[2]
			low += b[2] * least(was)
			top += b[2] * least(was + 1)
		}
		if (sum != $8)
			bad("hist adds up to " sum)
		if ($9 < low || ($9 >= top && was < 31))
			bad("total is not within the buckets")
		if ($11 < least(was) || ($11 >= least(was + 1) && was < 31))
			bad("maximum is not in the last bucket")
	}

	# order and uniqueness
	order = $9 + $13
	if (rows > 1 && order > last_order)
		bad("longer than the row before")
	if (rows > 1 && order == last_order && $5 < last_site)
		bad("sites in disorder")
	last_order = order
	last_site = $5
	key = $1 $5 "\t" $6 "\t" $7
	if ($1 !~ /^0+ / && !again && key in seen)
		bad("twice")
	seen[key] = 1
}

NR <= 3 {
	if (NR == 1 && $0 !~ /^# waitprof 1 version=/)
		bad("line 1")
	if (NR == 2 && $0 !~ /^# memory /)
		bad("line 2")
	if (NR == 3 && $0 !~ /^# lost /)
		bad("line 3")
	words(NR == 1 ? 4 : 3)
	has(must[NR])
	if (NR == 1) {
		hz = word["hz"] + 0
		if (word["kernel"] != release)
			bad("kernel is not " release)
		if (word["state"] !~ /^(on|off)$/)
			bad("state")
		if (word["hook"] !~ /^(kprobe|switch)$/)
			bad("hook")
		if (("hook_why" in word) != ("hook_asked" in word))
			bad("hook_asked and hook_why")
		if (word["realtime"] !~ /^[0-9]+\.[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]$/)
			bad("realtime")
		if (word["window_jiffies"] != jiffies(word["window_ns"]))
			bad("window_jiffies are not " jiffies(word["window_ns"]))
	}
	next
}

/^# waits\t/ {
	if (section != "head" || $0 != columns)
		bad("heading of the waits")
	section = "waits"
	next
}

/^# objects\t/ || /^# callers\t/ {
	section = $1
	next
}

/^#/ {
	if (section == "head")
		words(3)
	next
}

section == "waits" {
	row()
	next
}

section == "head" {
	bad("neither heading nor row")
}

/HERE/ {
	bad("HERE stands on a line that is no wait")
}

END {
	if (section == "head")
		print "no heading of the waits"
	if (others != 1)
		print "rows (other): " others + 0
}
