# SPDX-License-Identifier: GPL-2.0
# waitprof table: snapshots side by side. What is the same in all of them, and
# would only make the rows longer, stands above them once.

BEGIN {
	n = (ARGC - 1) / 2
	for (f = 1; f <= n; f++) {
		label[f] = ARGV[2 * f - 1]
		file[f] = ARGV[2 * f]
		twice[label[f]]++
		snapshot_read(file[f], f)
		for (i = 1; i <= objects[f]; i++) {
			o = object[f, i]
			if (!(o in seen))
				every[++nr_every] = o
			seen[o] = 1
			if (known(f, o, "live"))
				column_of[o] = "live"
			else if (known(f, o, "allocs") && column_of[o] == "")
				column_of[o] = "allocs"
			if (!known(f, o, "allocs") && row[f, o, "note"] != "")
				why[o] = row[f, o, "note"]
		}
	}
	for (f = 1; f <= n; f++)
		if (twice[label[f]] > 1)
			label[f] = file[f]

	cols = 0
	put(1, ++cols, "snapshot", "")
	for (f = 1; f <= n; f++)
		put(f + 1, cols, label[f], "")
	times()
	kernels()
	amount("free_kb", "free")
	if (!same_free())
		amount("low_free_kb", "low_free")
	amount("available_kb", "avail")
	amount("slab_kb", "slab")
	for (i = 1; i <= nr_every; i++)
		counts(every[i])
	differences()
	draw(n == 1 ? 2 : 2 * n + 1, cols, left)
	windows()
	if (nr_notes) {
		print ""
		print_notes()
	}
	exit 0
}

# A cell, and the number of which differences are made.
function put(r, c, text, x) {
	cell[r, c] = text
	val[r, c] = x
	if (r == 1)
		left = left (x == "right" ? "" : " " c " ")
}

function get(f, key) {
	return (f, key) in head ? head[f, key] : "n/a"
}

# --- time -------------------------------------------------------------------

# Days since 1970 to a date; the year begins in March, and eras have 400.
function date(days,  era, doe, yoe, doy, mp, d, m) {
	days += 719468
	era = int(days / 146097)
	doe = days - era * 146097
	yoe = int((doe - int(doe / 1460) + int(doe / 36524) - int(doe / 146096)) / 365)
	doy = doe - (365 * yoe + int(yoe / 4) - int(yoe / 100))
	mp = int((5 * doy + 2) / 153)
	d = doy - int((153 * mp + 2) / 5) + 1
	m = mp < 10 ? mp + 3 : mp - 9
	return sprintf("%04d-%02d-%02d", yoe + era * 400 + (m <= 2), m, d)
}

function clock(s,  h, m) {
	h = int(s / 3600)
	m = int((s - h * 3600) / 60)
	return sprintf("%02d:%02d:%02d", h, m, s - h * 3600 - m * 60)
}

function times(  f, t, day, days, one_day) {
	one_day = ""
	for (f = 1; f <= n; f++) {
		t = get(f, "realtime")
		if (t !~ /^[0-9]+(\.[0-9]+)?$/)
			continue
		days = int(t / 86400)
		day[f] = date(days)
		when[f] = clock(int(t) - days * 86400)
		seconds[f] = int(t)
		one_day = one_day == "" || one_day == day[f] ? day[f] : "none"
	}
	if (one_day == "")
		return
	put(1, ++cols, "UTC", "")
	for (f = 1; f <= n; f++)
		if (!(f in when))
			put(f + 1, cols, "n/a", "")
		else
			put(f + 1, cols, (one_day == "none" ? day[f] " " : "") when[f], "")
	time_col = cols
	if (one_day != "none")
		above("UTC of " one_day)
}

function kernels(  f, all) {
	all = get(1, "kernel")
	for (f = 2; f <= n; f++)
		if (get(f, "kernel") != all)
			all = "n/a"
	if (all != "n/a") {
		above("kernel " all)
		return
	}
	put(1, ++cols, "kernel", "")
	for (f = 1; f <= n; f++)
		put(f + 1, cols, get(f, "kernel"), "")
}

function above(text) {
	top = top (top == "" ? "" : ", ") text
}

# --- numbers ----------------------------------------------------------------

# All 64-bit machines: no high memory.
function same_free(  f) {
	for (f = 1; f <= n; f++)
		if (get(f, "free_kb") != get(f, "low_free_kb"))
			return 0
	return 1
}

# A column without a single number is left out.
function amount(key, title,  f, some) {
	for (f = 1; f <= n; f++)
		if (number(get(f, key)))
			some = 1
	if (!some)
		return
	memory = 1
	put(1, ++cols, title, "right")
	for (f = 1; f <= n; f++)
		value(f, number(get(f, key)) ? get(f, key) + 0 : "n/a")
}

function value(f, x) {
	put(f + 1, cols, num(x), x)
}

function counts(o,  f) {
	if (column_of[o] == "") {
		note(o ": n/a" (o in why ? ": " why[o] : "") ".")
		return
	}
	put(1, ++cols, o, "right")
	if (column_of[o] == "allocs")
		allocs = allocs (allocs == "" ? "" : ", ") o
	else
		live = live (live == "" ? "" : ", ") o
	for (f = 1; f <= n; f++)
		value(f, known(f, o, column_of[o]) ? row[f, o, column_of[o]] : "n/a")
}

function differences(  f, r, c, t, s) {
	if (memory)
		above("memory in KiB")
	if (live != "")
		above("live: " live)
	if (allocs != "")
		above("allocated: " allocs)
	if (top != "")
		wrap(top, "  ")
	if (n == 1)
		return
	r = n + 2
	for (c = 1; c <= cols; c++)
		cell[r, c] = ""
	cell[r, 1] = "less " label[1] ":"
	for (f = 2; f <= n; f++) {
		r++
		for (c = 1; c <= cols; c++) {
			cell[r, c] = ""
			if (val[f + 1, c] != "")
				cell[r, c] = signed(minus(val[f + 1, c], val[2, c]))
		}
		cell[r, 1] = label[f]
		if (!(1 in when) || !(f in when))
			continue
		t = seconds[f] - seconds[1]
		s = t < 0 ? "-" : "+"
		t = t < 0 ? -t : t
		cell[r, time_col] = s (t < 86400 ? "" : int(t / 86400) "d ") clock(t % 86400)
	}
}

# Counts are of a window. A reset begins a new one.
function windows(  f, a, b) {
	if (live == "" && allocs == "")
		return
	for (f = 2; f <= n; f++) {
		if (get(f, "kernel") != get(1, "kernel"))
			continue
		a = get(1, "resets")
		b = get(f, "resets")
		if (number(a) && number(b) && a != b)
			note(label[f] ": resets=" b ", not " a " as in " label[1] ": its objects were counted anew.")
	}
}
