# SPDX-License-Identifier: GPL-2.0
# waitprof slab: what the slabs of a cache hold, and what is lost in them.
#
#	total = slabs * bytes of a slab
#	used  = objects * object size
#	loss  = total - used
#	Lpadd = slabs * what is left at the end of a slab
#	Lalig = objects * (size in the slab - object size)

BEGIN {
	path = ENVIRON["wp_file"]
	sys = ENVIRON["wp_sys"]
	slabinfo_read(path, 1)
	for (i = 1; i <= nr[1]; i++)
		in_file[name[1, i]] = 1
	read_sizes(ENVIRON["wp_sizes"])
	if (sys != "")
		read_links()
	for (i = 1; i < ARGC; i++) {
		c = found(ARGV[i])
		if (!(c in asked))
			idx[++n] = c
		asked[c] = 1
	}
	if (ARGC == 1)
		for (i = 1; i <= nr[1]; i++)
			if (slabs[1, name[1, i]] || ENVIRON["wp_tsv"])
				idx[++n] = name[1, i]
			else
				empty++
	for (i = 1; i <= n; i++)
		derive(idx[i])
	if (ENVIRON["wp_tsv"]) {
		table_exact()
		exit 0
	}
	if (n == 1 && ARGC == 2)
		one(idx[1])
	else
		all()
	tell()
	if (nr_notes) {
		print ""
		print_notes()
	}
	exit 0
}

function read_sizes(file,  line, n, w, k) {
	if (file == "")
		return
	while ((getline line < file) > 0) {
		n++
		if (line ~ /^#/ || line ~ /^[ \t]*$/)
			continue
		k = split(line, w, " ")
		if (k != 2 || !number(w[2]))
			fail("line " n " of " file " is not \"cache object_size\"")
		object_size[w[1]] = w[2] + 0
	}
	finish(file)
}

# Of merged caches each name is a link to one directory, which bears no name.
function read_links(  cmd, line, at, from, k, w) {
	cmd = "ls -l \"$wp_sys\" 2>/dev/null"
	while ((cmd | getline line) > 0) {
		at = index(line, " -> ")
		if (!at)
			continue
		k = split(substr(line, 1, at - 1), w, " ")
		from = w[k]
		line = substr(line, at + 4)
		sub(/\/$/, "", line)
		sub(/^.*\//, "", line)
		link[from] = line
		sharing[line] = sharing[line] " " from
		sharers[line]++
	}
	close(cmd)
}

# The cache of that name, or the one that it is merged with.
function found(c,  i) {
	if (c in in_file)
		return c
	if (c in link)
		for (i = 1; i <= nr[1]; i++)
			if (link[name[1, i]] == link[c] && name[1, i] in link) {
				note(c " is merged with " name[1, i] ", and listed under that name.")
				return name[1, i]
			}
	no_cache(c, path)
}

function derive(c,  s, o, file) {
	if (!(c in object_size)) {
		object_size[c] = "n/a"
		file = sys "/" c "/object_size"
		if (sys != "" && (getline s < file) > 0 && number(s))
			object_size[c] = s + 0
		finish(file)
	}
	o = object_size[c]
	if (o != "n/a" && o > slab_size[1, c])
		fail("an object of " c " cannot have " num(o) " bytes: it takes " num(slab_size[1, c]) " in the slab")
	s = pages_per_slab[1, c] * page[1]
	total[c] = slabs[1, c] * s
	lpadd[c] = slabs[1, c] * (s - per_slab[1, c] * slab_size[1, c])
	used[c] = o == "n/a" ? o : active[1, c] * o
	loss[c] = minus(total[c], used[c])
	lalig[c] = o == "n/a" ? o : active[1, c] * (slab_size[1, c] - o)
	if (o == "n/a")
		unknown++
	if (num_objs[1, c] != slabs[1, c] * per_slab[1, c])
		uneven[++nr_uneven] = c
	# Most loss first; those without a known loss behind, most total first.
	key1[c] = o == "n/a" ? total[c] - 9007199254740992 : loss[c]
	key2[c] = c
}

function percent(c) {
	if (loss[c] == "n/a" || !total[c])
		return "n/a"
	return sprintf("%.1f", 100 * loss[c] / total[c])
}

function say(what, value) {
	printf "%-26s %16s\n", what, value
}

function one(c,  free) {
	print c
	say("objects", num(active[1, c]))
	say("object size", num(object_size[c]))
	say("size in the slab", num(slab_size[1, c]))
	say("order", order_of(pages_per_slab[1, c]))
	say("pages per slab", num(pages_per_slab[1, c]))
	say("objects per slab", num(per_slab[1, c]))
	say("slabs", num(slabs[1, c]))
	say("total bytes", num(total[c]))
	say("used bytes", num(used[c]))
	say("loss bytes", num(loss[c]))
	say("  of it slab tails (Lpadd)", num(lpadd[c]))
	say("  of it alignment (Lalig)", num(lalig[c]))
	free = minus(minus(loss[c], lpadd[c]), lalig[c])
	say("  of it free objects", num(free))
	say("wasted %", percent(c))
}

function kib(x) {
	return x == "n/a" ? x : sprintf("%.0f", x / 1024)
}

function all(  i, c, r, cols, sum, lost, pad, align, use) {
	sorted(n)
	cols = heads("objects size slab ord pg slabs total used loss Lpadd Lalig % cache")
	for (i = 1; i <= n; i++) {
		c = idx[i]
		row(i + 1, c)
		sum += total[c]
		pad += lpadd[c]
		use += used[c]
		align += lalig[c]
	}
	r = n + 1
	if (ARGC == 1) {
		r++
		for (i = 1; i <= cols; i++)
			cell[r, i] = ""
		cell[r, 7] = kib(sum)
		cell[r, 8] = unknown ? "n/a" : kib(use)
		cell[r, 9] = unknown ? "n/a" : kib(sum - use)
		cell[r, 10] = kib(pad)
		cell[r, 11] = unknown ? "n/a" : kib(align)
		cell[r, 12] = unknown || !sum ? "n/a" : sprintf("%.0f", 100 * (sum - use) / sum)
		cell[r, 13] = "(all)"
	}
	print "size: bytes of an object; slab: bytes it takes in the slab; ord: order;"
	print "pg: pages per slab; total to Lalig in KiB"
	draw(r, cols, " 13 ")
	if (empty)
		note("caches without a slab, which are not listed: " num(empty) ".")
}

function row(r, c) {
	cell[r, 1] = num(active[1, c])
	cell[r, 2] = num(object_size[c])
	cell[r, 3] = num(slab_size[1, c])
	cell[r, 4] = order_of(pages_per_slab[1, c])
	cell[r, 5] = num(pages_per_slab[1, c])
	cell[r, 6] = num(slabs[1, c])
	cell[r, 7] = kib(total[c])
	cell[r, 8] = kib(used[c])
	cell[r, 9] = kib(loss[c])
	cell[r, 10] = kib(lpadd[c])
	cell[r, 11] = kib(lalig[c])
	cell[r, 12] = percent(c)
	if (cell[r, 12] != "n/a")
		cell[r, 12] = sprintf("%.0f", cell[r, 12])
	cell[r, 13] = c
	if (c in link && sharers[link[c]] > 1) {
		cell[r, 13] = c " +" (sharers[link[c]] - 1)
		merged++
	}
}

function table_exact(  i, c) {
	print "# cache\tobject_size\tslab_object_size\torder\tpages_per_slab\tobjects\tslabs\tobjects_per_slab\ttotal_bytes\tused_bytes\tloss_bytes\tlpadd\tlalig\twasted_percent"
	sorted(n)
	for (i = 1; i <= n; i++) {
		c = idx[i]
		print c "\t" num(object_size[c]) "\t" num(slab_size[1, c]) "\t" \
			order_of(pages_per_slab[1, c]) "\t" num(pages_per_slab[1, c]) "\t" \
			num(active[1, c]) "\t" num(slabs[1, c]) "\t" num(per_slab[1, c]) "\t" \
			num(total[c]) "\t" num(used[c]) "\t" num(loss[c]) "\t" \
			num(lpadd[c]) "\t" num(lalig[c]) "\t" percent(c)
	}
}

function tell(  c, k, w, i, others, kernel, v) {
	if (!n)
		return
	c = idx[1]
	if (n == 1 && ARGC == 2 && c in link && sharers[link[c]] > 1) {
		k = split(sharing[link[c]], w, " ")
		for (i = 1; i <= k; i++)
			if (w[i] != c)
				others = others (others == "" ? "" : ", ") w[i]
		note("merged (" link[c] ") with " others ": the numbers are of all of them, the object size is that of the largest.")
	}
	if (merged)
		note("+n: merged with n other caches; its numbers are of all of them, its object size is that of the largest.")
	if (unknown && sys != "")
		note("n/a: no object size in " sys " (root alone may read them).")
	else if (unknown)
		note("n/a: the file does not hold the object size; --sizes FILE gives it.")
	if (nr_uneven)
		note(some() ": not all slabs hold as many objects as the order gives; some are of a lower order, and the total is too high.")
	if (page[1] != 4096)
		note("pages of " num(page[1]) " bytes.")
	note("free objects that a CPU keeps for itself (its slabs, its sheaf) count as objects in use, so the loss may be larger.")
	kernel = kernel_of(path)
	split(kernel, v, ".")
	if (kernel == "")
		note("which kernel wrote the file is not known; from 6.10 on, the objects of a cache with more than 10,000 partial slabs on a node are an estimate.")
	else if (v[1] + 0 > 6 || (v[1] + 0 == 6 && v[2] + 0 >= 10))
		note("kernel " kernel ": the objects of a cache with more than 10,000 partial slabs on a node are an estimate (since 6.10).")
}

function some(  i, s) {
	for (i = 1; i <= nr_uneven && i <= 3; i++)
		s = s (i > 1 ? ", " : "") uneven[i]
	return s (nr_uneven > 3 ? " and " (nr_uneven - 3) " more" : "")
}

# The running kernel's, or that of the snapshot that lies beside the file:
# waitprof beside slabinfo, NAME or NAME.waitprof beside NAME.slabinfo.
function kernel_of(file,  s, t) {
	if (file == "/proc/slabinfo") {
		getline s < "/proc/sys/kernel/osrelease"
		return s
	}
	t = file
	if (sub(/slabinfo$/, "waitprof", t) && (s = kernel_in(t)) != "")
		return s
	t = file
	return sub(/\.slabinfo$/, "", t) ? kernel_in(t) : ""
}

function kernel_in(file,  s, n, w, i) {
	if ((getline s < file) <= 0 || s !~ /^# waitprof /)
		return ""
	finish(file)
	n = split(s, w, " ")
	for (i = 3; i <= n; i++)
		if (w[i] ~ /^kernel=/)
			return substr(w[i], 8)
	return ""
}
