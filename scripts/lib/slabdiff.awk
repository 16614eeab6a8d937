# SPDX-License-Identifier: GPL-2.0
# waitprof slab --diff: the slabs of each cache in two files, a line for each.

BEGIN {
	for (f = 1; f <= 2; f++) {
		path[f] = ENVIRON["wp_file" f]
		slabinfo_read(path[f], f)
		for (i = 1; i <= nr[f]; i++) {
			c = name[f, i]
			pages[f, c] = slabs[f, c] * pages_per_slab[f, c]
			if (!(c in seen))
				all[++n_all] = c
			seen[c] = 1
		}
	}
	if (page[1] != page[2])
		fail(path[1] " is of pages of " num(page[1]) " bytes, " path[2] " of " num(page[2]))
	for (i = 1; i < ARGC; i++) {
		if (!(ARGV[i] in seen))
			no_cache(ARGV[i], path[1] " nor in " path[2])
		take(ARGV[i])
	}
	if (ARGC == 1)
		for (i = 1; i <= n_all; i++)
			if (differs(all[i]))
				take(all[i])
	if (!n) {
		print "no difference"
		exit 0
	}
	sorted(n)
	cols = heads("cache file objects pages/slab slabs pages diff")
	r = 1
	for (i = 1; i <= n; i++)
		for (f = 1; f <= 2; f++)
			row(++r, idx[i], f)
	if (ARGC == 1 && n > 1) {
		cell[++r, 1] = "(all)"
		cell[r, 6] = cell[r, 7] = ""
		cell[r, 7] = signed(sum)
	}
	print "A: " path[1]
	print "B: " path[2]
	draw(r, cols, " 1 2 ")
	exit 0
}

function differs(c) {
	return !((1, c) in slabs) || !((2, c) in slabs) || active[1, c] != active[2, c] || \
		pages_per_slab[1, c] != pages_per_slab[2, c] || slabs[1, c] != slabs[2, c]
}

function take(c,  d) {
	idx[++n] = c
	key2[c] = c
	if (!((1, c) in slabs) || !((2, c) in slabs)) {
		key1[c] = -1
		diff[c] = "n/a"
		return
	}
	d = pages[2, c] - pages[1, c]
	diff[c] = d
	key1[c] = d < 0 ? -d : d
	sum += d
}

function row(r, c, f,  i) {
	cell[r, 1] = c
	cell[r, 2] = f == 1 ? "A" : "B"
	for (i = 3; i <= 6; i++)
		cell[r, i] = "n/a"
	if ((f, c) in slabs) {
		cell[r, 3] = num(active[f, c])
		cell[r, 4] = num(pages_per_slab[f, c])
		cell[r, 5] = num(slabs[f, c])
		cell[r, 6] = num(pages[f, c])
	}
	cell[r, 7] = f == 2 ? signed(diff[c]) : ""
}
