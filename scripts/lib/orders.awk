# SPDX-License-Identifier: GPL-2.0
# waitprof slab --orders: what slabs of the next orders would hold.
#
# The rule that was discussed in 2008: raise the order as long as what is left
# at the end of a slab is at least half an object.

BEGIN {
	max = ENVIRON["wp_max"] + 0
	path = ENVIRON["wp_file"]
	for (i = 1; i < ARGC; i++)
		if (!number(ARGV[i]))
			caches++
	page[1] = ENVIRON["wp_page"] == "" ? 4096 : ENVIRON["wp_page"] + 0
	if (caches || ARGC == 1) {
		slabinfo_read(path, 1)
		for (i = 1; i <= nr[1]; i++)
			in_file[name[1, i]] = 1
	}
	if (ARGC == 1) {
		all()
		exit 0
	}
	for (i = 1; i < ARGC; i++) {
		if (i > 1)
			print ""
		if (number(ARGV[i]))
			a_size(ARGV[i] + 0)
		else if (ARGV[i] in in_file)
			a_cache(ARGV[i])
		else
			no_cache(ARGV[i], path)
	}
	exit 0
}

# busybox may be built without "^".
function pages_of(order,  n) {
	for (n = 1; order > 0; order--)
		n *= 2
	return n
}

function bytes(order) {
	return page[1] * pages_of(order)
}

function holds(size, order) {
	return int(bytes(order) / size)
}

function tail(size, order) {
	return bytes(order) - size * holds(size, order)
}

function rule(size, order) {
	while (order < max && 2 * tail(size, order) >= size)
		order++
	return order
}

# Slabs for so many objects, if none of them has a hole.
function slabs_for(objects, size, order) {
	if (objects == "n/a")
		return objects
	return int((objects + holds(size, order) - 1) / holds(size, order))
}

# --- where SLUB starts ------------------------------------------------------
# calculate_order() of mm/slub.c, as it is since 6.7. From 2.6.25 to 6.6 it
# differs for objects above 10 KiB alone.

function fls(x,  n) {
	for (n = 0; x >= 1; n++)
		x = int(x / 2)
	return n
}

function get_order(size,  o) {
	for (o = 0; bytes(o) < size; o++)
		;
	return o
}

function slub_start(size, cpus,  objects, least, fraction, o) {
	objects = 4 * (fls(cpus) + 1)
	if (objects > holds(size, max))
		objects = holds(size, max)
	if (objects < 1)
		objects = 1
	least = get_order(objects * size)
	if (holds(size, least) > 32767)
		return get_order(size * 32767) - 1
	for (fraction = 16; fraction > 1; fraction /= 2)
		for (o = least; o <= max; o++)
			if (tail(size, o) <= bytes(o) / fraction)
				return o
	return get_order(size)
}

# ----------------------------------------------------------------------------

function a_size(s,  order) {
	if (s < 8)
		fail("an object takes 8 bytes in a slab at least, not " num(s))
	if (ENVIRON["wp_order"] != "") {
		order = ENVIRON["wp_order"] + 0
		if (!holds(s, order))
			fail("no object of " num(s) " bytes fits into a slab of order " order)
		print num(s) " bytes in the slab, order " order
	} else {
		order = slub_start(s, ENVIRON["wp_cpus"] + 0)
		print num(s) " bytes in the slab, order " order ": SLUB's own for " ENVIRON["wp_cpus"] " CPUs"
	}
	orders(s, order, "n/a")
}

function a_cache(c,  order) {
	order = ENVIRON["wp_order"] != "" ? ENVIRON["wp_order"] + 0 : order_of(pages_per_slab[1, c])
	if (order == "n/a")
		fail("the slabs of " c " have " num(pages_per_slab[1, c]) " pages, which is no order")
	if (!holds(slab_size[1, c], order))
		fail("no object of " c " fits into a slab of order " order)
	print c ": " num(slab_size[1, c]) " bytes in the slab, " num(active[1, c]) " objects, order " order
	orders(slab_size[1, c], order, active[1, c])
}

function orders(s, from, objects,  o, r, cols, first, n, to) {
	cols = heads("order pages/slab objects/slab tail slabs pages diff")
	first = slabs_for(objects, s, from)
	first = first == "n/a" ? first : first * pages_of(from)
	for (o = from; o == from || o <= max; o++) {
		r = o - from + 2
		n = slabs_for(objects, s, o)
		cell[r, 1] = o
		cell[r, 2] = num(pages_of(o))
		cell[r, 3] = num(holds(s, o))
		cell[r, 4] = num(tail(s, o))
		cell[r, 5] = num(n)
		cell[r, 6] = n == "n/a" ? n : num(n * pages_of(o))
		cell[r, 7] = n == "n/a" ? n : signed(n * pages_of(o) - first)
	}
	draw(r, cols, " ")
	to = rule(s, from)
	if (to > from)
		print "rule of 2008: order " from " -> " to
	else if (from >= max)
		print "rule of 2008: stays, " from " is the maximum"
	else
		print "rule of 2008: stays, the tail is less than half an object"
}

function all(  i, c, s, from, to, n, r, a, b, cols, sum) {
	for (i = 1; i <= nr[1]; i++) {
		c = name[1, i]
		s = slab_size[1, c]
		from = order_of(pages_per_slab[1, c])
		if (!active[1, c] || from == "n/a" || (to = rule(s, from)) == from)
			continue
		idx[++n] = c
		start[c] = from
		end[c] = to
		a = slabs_for(active[1, c], s, from) * pages_of(from)
		b = slabs_for(active[1, c], s, to) * pages_of(to)
		key1[c] = a - b
		key2[c] = c
		before[c] = a
		after[c] = b
		sum += b - a
	}
	if (!n) {
		print "rule of 2008: no cache with objects rises"
		return
	}
	sorted(n)
	cols = heads("objects slab order objects/slab tail pages diff cache")
	for (r = 2; r <= n + 1; r++) {
		c = idx[r - 1]
		s = slab_size[1, c]
		cell[r, 1] = num(active[1, c])
		cell[r, 2] = num(s)
		cell[r, 3] = start[c] " -> " end[c]
		cell[r, 4] = num(holds(s, start[c])) " -> " num(holds(s, end[c]))
		cell[r, 5] = num(tail(s, start[c])) " -> " num(tail(s, end[c]))
		cell[r, 6] = num(before[c]) " -> " num(after[c])
		cell[r, 7] = signed(after[c] - before[c])
		cell[r, 8] = c
	}
	for (i = 1; i <= cols; i++)
		cell[r, i] = ""
	cell[r, 7] = signed(sum)
	cell[r, 8] = "(all)"
	print "rule of 2008: what rises; pages for the objects of today, without holes"
	draw(r, cols, " 8 ")
}
