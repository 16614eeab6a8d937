# SPDX-License-Identifier: GPL-2.0
# waitprof graph: which calls lead to the allocation of an object.
#
# A function is a node, however many paths lead through it. An edge has the sum
# of the counts of all paths that contain it. How often a function was called
# is known if it is itself the allocating function of a tracked object.

BEGIN {
	snapshot_read(ENVIRON["wp_b"], 2)
	if (ENVIRON["wp_a"] != "")
		difference(ENVIRON["wp_a"], ENVIRON["wp_b"])
	if (!has_objects[2])
		fail(ENVIRON["wp_b"] " has no objects: no section \"# objects\"")
	for (i = 1; i <= objects[2]; i++)
		calls_of(object[2, i])
	for (i = 1; i <= paths[2]; i++)
		with_paths[of[2, i]] = 1

	o = ENVIRON["wp_object"]
	if (o != "") {
		if (!((2, o, "allocs") in row))
			fail("no object " o " in " ENVIRON["wp_b"] "; there are: " names())
		if (o in with_paths)
			graph(o)
		else
			bare(o)
	} else {
		for (i = 1; i <= objects[2]; i++)
			if (object[2, i] in with_paths) {
				if (drawn++)
					print ""
				graph(object[2, i])
			}
		if (!drawn)
			print "no object has call paths"
	}
	exit 0
}

function names(  i, s) {
	for (i = 1; i <= objects[2]; i++)
		s = s (i > 1 ? ", " : "") object[2, i]
	return s == "" ? "none" : s
}

function bare(o,  why) {
	if (known(2, o, "allocs")) {
		print o " " num(row[2, o, "allocs"]) ", no call paths"
		return
	}
	why = row[2, o, "note"]
	print o " n/a" (why == "" ? "" : ": " why)
}

# --- b - a ------------------------------------------------------------------

function same(key, what) {
	if (!((1, key) in head) || !((2, key) in head))
		fail("no difference: a snapshot does not say its " key "=")
	if (head[1, key] != head[2, key])
		fail("no difference: " what " (" key "=" head[1, key] ", " key "=" head[2, key] ")")
}

function less(b, a, what) {
	if (a == "n/a" || b == "n/a")
		return "n/a"
	if (b < a)
		fail("no difference: " what " fell from " num(a) " to " num(b) "; in the wrong order, or tracked anew between?")
	return b - a
}

function difference(a, b,  i, k, o, was) {
	snapshot_read(a, 1)
	same("kernel", "the snapshots are of two kernels")
	same("resets", "a reset lies between the snapshots")
	if (head[1, "window_ns"] + 0 > head[2, "window_ns"] + 0)
		fail("no difference: " b " is of a shorter window than " a "; in the wrong order, or loaded anew between?")
	for (i = 1; i <= objects[2]; i++) {
		o = object[2, i]
		was = (1, o, "allocs") in row ? row[1, o, "allocs"] : 0
		row[2, o, "allocs"] = less(row[2, o, "allocs"], was, o)
		if (known(2, o, "missed"))
			row[2, o, "missed"] -= row[1, o, "missed"]
	}
	for (i = 1; i <= paths[1]; i++)
		before[of[1, i], path[1, i]] += count[1, i]
	k = 0
	for (i = 1; i <= paths[2]; i++) {
		o = of[2, i]
		was = before[o, path[2, i]] + 0
		was = less(count[2, i], was, "a path of " o)
		if (was == 0)
			continue
		k++
		of[2, k] = o
		count[2, k] = was
		path[2, k] = path[2, i]
	}
	paths[2] = k
}

# --- functions --------------------------------------------------------------

# The note begins with the allocating function: "alloc,free", "alloc [module]".
function calls_of(o,  s) {
	s = row[2, o, "note"]
	if (!known(2, o, "allocs"))
		return
	sub(/,.*/, "", s)
	sub(/^[^: ]*:/, "", s)
	if (s !~ /^[^ ]+( \[[^] ]+\])?$/ || s in calls)
		return
	calls[s] = row[2, o, "allocs"]
	missed[s] = known(2, o, "missed") ? row[2, o, "missed"] : 0
}

# Its name in calls, or "".
function counted(f,  s) {
	if (f in calls)
		return f
	s = f
	sub(/ \[.*/, "", s)
	return s in calls ? s : ""
}

function calls_text(f,  s) {
	s = counted(f)
	return s == "" ? "n/a" : num(calls[s])
}

function per_call(n, f,  s) {
	s = counted(f)
	return s == "" || !calls[s] ? "n/a" : ratio(n, calls[s])
}

# "symbol+offset/size [module]" without the offset
function function_of(frame) {
	sub(/\+0x[0-9a-f]+\/0x[0-9a-f]+/, "", frame)
	return frame
}

# Without the module, if that leaves it the only one of its name.
function short(f,  s) {
	s = f
	sub(/ \[.*/, "", s)
	return plain[s] > 1 ? f : s
}

# --- the graph --------------------------------------------------------------

function clear(  k) {
	for (k in edge)
		delete edge[k]
	for (k in outs)
		delete outs[k]
	for (k in ins)
		delete ins[k]
	for (k in done)
		delete done[k]
	for (k in plain)
		delete plain[k]
	for (k in outermost)
		delete outermost[k]
	for (k in cell)
		delete cell[k]
	nr_roots = nr_nodes = rows = nr_notes = 0
}

function node(f,  s) {
	if (f in outs)
		return
	outs[f] = ins[f] = 0
	nodes[++nr_nodes] = f
	s = f
	sub(/ \[.*/, "", s)
	plain[s]++
}

function add(from, to, n, nr_path) {
	# A path that recurses goes through the edge once.
	if (last[from, to] == nr_path)
		return
	last[from, to] = nr_path
	if (!((from, to) in edge)) {
		callee[from, ++outs[from]] = to
		ins[to]++
		edge[from, to] = 0
	}
	edge[from, to] += n
}

function graph(o,  i, k, n, w, f, leaf, sum, lost, unknown) {
	clear()
	# No function has that name.
	leaf = "\t" o
	outs[leaf] = ins[leaf] = 0
	for (i = 1; i <= paths[2]; i++) {
		if (of[2, i] != o)
			continue
		n = count[2, i]
		if (n == "n/a") {
			unknown++
			continue
		}
		sum += n
		k = split(path[2, i], w, "<")
		for (f = 1; f <= k; f++) {
			w[f] = function_of(w[f])
			node(w[f])
		}
		serial++
		add(w[1], leaf, n, serial)
		for (f = 2; f <= k; f++)
			add(w[f], w[f - 1], n, serial)
		outermost[w[k]] += n
	}
	lost = row[2, o, "allocs"]
	if (known(2, o, "allocs") && lost > sum)
		note(num(lost - sum) " of " num(lost) " allocations are in no path.")
	if (unknown)
		note(unknown " paths have no count.")
	if (known(2, o, "missed") && row[2, o, "missed"] > 0)
		note(o ": " num(row[2, o, "missed"]) " calls were missed.")
	for (i = 1; i <= nr_nodes; i++)
		if ((f = counted(nodes[i])) != "" && missed[f] > 0)
			note(f ": " num(missed[f]) " calls were missed, so it has more than are shown.")
	if (sum && !ENVIRON["wp_tree"] && is_chain(leaf, sum))
		chain(o, leaf, sum)
	else
		tree(o, leaf, sum)
	print_notes()
}

# One way from one function to the object, and all of it goes all the way.
function is_chain(leaf, sum,  i, f, next_one) {
	for (i = 1; i <= nr_nodes; i++) {
		f = nodes[i]
		if (outs[f] != 1 || ins[f] > 1 || edge[f, callee[f, 1]] != sum)
			return 0
		if (!ins[f])
			nr_roots++
	}
	return nr_roots == 1
}

function chain(o, leaf, sum,  i, f, line, piece, width) {
	for (i = 1; i <= nr_nodes; i++)
		if (!ins[nodes[i]])
			f = nodes[i]
	line = short(f) " " calls_text(f)
	width = length(line)
	while (f != leaf) {
		if (callee[f, 1] == leaf)
			piece = o " " num(sum) ", " per_call(sum, f) " per call"
		else
			piece = short(callee[f, 1]) " " calls_text(callee[f, 1])
		# The arrow is one column, whatever length() takes it for.
		width += 3 + length(piece)
		if (width > 80) {
			print line
			line = "   "
			width = 6 + length(piece)
		}
		line = line " → " piece
		f = callee[f, 1]
	}
	print line
}

function tree(o, leaf, sum,  i, r, n) {
	printf "%s %s", o, num(sum)
	if (known(2, o, "live") && ENVIRON["wp_a"] == "")
		printf ", %s live", num(row[2, o, "live"])
	print ""
	rows = 1
	cell[1, 1] = "caller -> callee"
	cell[1, 2] = "calls"
	cell[1, 3] = o
	cell[1, 4] = "per call"
	# Where a path was cut, its outermost function may have callers in others.
	for (n = 0; n < 2; n++)
		while ((r = largest(n)) != "") {
			if (!(r in done))
				walk(r, "", leaf, o)
		}
	draw(rows, 4, " 1 ")
}

function largest(with_callers,  f, best) {
	best = ""
	for (f in outermost)
		if (!(f in done) && (with_callers || !ins[f]))
			if (best == "" || outermost[f] > outermost[best] || (outermost[f] == outermost[best] && f < best))
				best = f
	return best
}

# The callees of a function stand below it once, where it is met first.
function walk(f, indent, leaf, o,  i, k, to, best) {
	done[f] = 1
	for (k = 1; k <= outs[f]; k++) {
		best = 0
		for (i = 1; i <= outs[f]; i++)
			if (!((o, f, i) in shown) && (!best || bigger(f, i, best)))
				best = i
		shown[o, f, best] = 1
		to = callee[f, best]
		rows++
		cell[rows, 1] = indent short(f) " -> " (to == leaf ? o : short(to))
		cell[rows, 2] = calls_text(f)
		cell[rows, 3] = num(edge[f, to])
		cell[rows, 4] = per_call(edge[f, to], f)
		if (to == leaf)
			continue
		if (to in done)
			cell[rows, 1] = cell[rows, 1] " (above)"
		else
			walk(to, indent "  ", leaf, o)
	}
}

function bigger(f, a, b,  m, n) {
	m = edge[f, callee[f, a]]
	n = edge[f, callee[f, b]]
	return m > n || (m == n && callee[f, a] < callee[f, b])
}
