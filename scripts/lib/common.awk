# SPDX-License-Identifier: GPL-2.0
# What the views share. The programs run in BEGIN alone and read their files
# with getline: their names come by the environment, where nothing is escaped.
# mawk cuts %d at 2^31: numbers are printed with %.0f, exact up to 2^53.

function fail(why) {
	print "waitprof: " why | "cat >&2"
	close("cat >&2")
	exit 1
}

# mawk 1.3.4 crashes when it closes this one.
function finish(file) {
	if (file != "/dev/stdin")
		close(file)
}

function number(s) {
	return s ~ /^[0-9]+$/
}

function num(x) {
	return x == "n/a" ? x : sprintf("%.0f", x)
}

function signed(x) {
	return x == "n/a" ? x : x > 0 ? sprintf("+%.0f", x) : sprintf("%.0f", x)
}

# b - a, where both are known
function minus(b, a) {
	return a == "n/a" || b == "n/a" ? "n/a" : b - a
}

# A quotient, for reading.
function ratio(a, b,  x) {
	x = a / b
	if (x == int(x))
		return sprintf("%.0f", x)
	if (x < 0.01)
		return "< 0.01"
	return sprintf(x < 100 ? "%.2f" : "%.1f", x)
}

# draw() - print cell[1..rows, 1..cols], as wide as it must be
# left: the columns, between blanks, that are not aligned to the right. A row
# that is empty from some column on ends there.
function draw(rows, cols, left,  r, c, w, wide, gap, line, s) {
	for (c = 1; c <= cols; c++) {
		w[c] = 0
		for (r = 1; r <= rows; r++)
			if (length(cell[r, c]) > w[c])
				w[c] = length(cell[r, c])
		wide += w[c]
	}
	gap = wide + 2 * (cols - 1) > 80 ? 1 : 2
	for (r = 1; r <= rows; r++) {
		line = ""
		for (c = 1; c <= cols; c++) {
			s = cell[r, c]
			if (c > 1)
				line = line sprintf("%" gap "s", "")
			if (index(left, " " c " "))
				line = line sprintf("%-" w[c] "s", s)
			else
				line = line sprintf("%" w[c] "s", s)
		}
		sub(/ +$/, "", line)
		print line
	}
}

# heads() - the first row of cell, from words
function heads(words,  n, w, i) {
	n = split(words, w, " ")
	for (i = 1; i <= n; i++)
		cell[1, i] = w[i]
	return n
}

# note() - a line for below the table, wrapped at 80 columns
function note(text) {
	notes[++nr_notes] = text
}

function wrap(text, indent,  n, w, i, line) {
	n = split(text, w, " ")
	line = w[1]
	for (i = 2; i <= n; i++)
		if (length(line) + 1 + length(w[i]) > 80) {
			print line
			line = indent w[i]
		} else {
			line = line " " w[i]
		}
	print line
}

function print_notes(  i) {
	for (i = 1; i <= nr_notes; i++)
		wrap("note: " notes[i], "      ")
}

# sorted() - sort idx[1..n] by key1, largest first, then by key2, least first
# A heap: some machines have thousands of caches.
function sorted(n,  i, t) {
	for (i = int(n / 2); i >= 1; i--)
		sift(i, n)
	for (i = n; i > 1; i--) {
		t = idx[1]
		idx[1] = idx[i]
		idx[i] = t
		sift(1, i - 1)
	}
}

function behind(a, b) {
	if (key1[a] != key1[b])
		return key1[a] + 0 < key1[b] + 0
	return (key2[a] "") > (key2[b] "")
}

function sift(i, n,  c, t) {
	while ((c = 2 * i) <= n) {
		if (c < n && behind(idx[c + 1], idx[c]))
			c++
		if (!behind(idx[c], idx[i]))
			return
		t = idx[c]
		idx[c] = idx[i]
		idx[i] = t
		i = c
	}
}
