# SPDX-License-Identifier: GPL-2.0
# Reads a snapshot of /proc/waitprof, but for its waits. f tells one from
# another:
#	head[f, key]	words of the headings waitprof and memory
#	objects[f], object[f, i]
#	row[f, object, column]	allocs, live, missed, note: by the names in the heading
#	paths[f], of[f, i], count[f, i], path[f, i]
# A counter is a number or "n/a".

function snapshot_read(file, f,  line, n, k, w, i, section, column, columns) {
	objects[f] = paths[f] = 0
	while ((getline line < file) > 0) {
		if (!n++) {
			if (line !~ /^# waitprof [0-9]/)
				fail(file " is no snapshot of waitprof")
			if (line !~ /^# waitprof 1( |$)/)
				fail(file " is of a later format than this tool knows, which is 1")
		}
		if (line ~ /^# (waitprof|memory) /) {
			heading(line, f)
			continue
		}
		if (line ~ /^#/) {
			columns = split(line, column, "\t")
			section = column[1]
			if (section == "# objects")
				has_objects[f] = 1
			continue
		}
		if (section == "# objects") {
			k = split(line, w, "\t")
			if (k < 2)
				fail("line " n " of " file " is no row of an object")
			if (!((f, w[1], "allocs") in row))
				object[f, ++objects[f]] = w[1]
			row[f, w[1], "allocs"] = "n/a"
			for (i = 2; i <= k && i <= columns; i++)
				if (column[i] == "note")
					row[f, w[1], "note"] = w[i]
				else if (column[i] ~ /^(allocs|live|missed)$/)
					row[f, w[1], column[i]] = counter(w[i], file, n)
		} else if (section == "# callers") {
			k = split(line, w, "\t")
			if (w[1] != "caller" || k < 5 || w[5] == "")
				fail("line " n " of " file " is no call path")
			of[f, ++paths[f]] = w[2]
			count[f, paths[f]] = counter(w[3], file, n)
			path[f, paths[f]] = w[5]
		}
	}
	finish(file)
	if (!n)
		fail(file " is empty, and no snapshot")
}

# live may be below 0: older objects were freed.
function counter(s, file, n) {
	if (s == "n/a" || s == "-")
		return "n/a"
	if (s !~ /^-?[0-9]+$/)
		fail("line " n " of " file ": neither a number nor n/a: " s)
	return s + 0
}

function heading(line, f,  n, w, i, at) {
	n = split(line, w, " ")
	for (i = 3; i <= n; i++)
		if ((at = index(w[i], "=")))
			head[f, substr(w[i], 1, at - 1)] = substr(w[i], at + 1)
}

function known(f, o, column) {
	return (f, o, column) in row && row[f, o, column] != "n/a"
}
