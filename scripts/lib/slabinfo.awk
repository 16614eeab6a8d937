# SPDX-License-Identifier: GPL-2.0
# /proc/slabinfo, version 2:
#
#	name active_objs num_objs objsize objperslab pagesperslab
#	: tunables ... : slabdata active_slabs num_slabs sharedavail
#
# objsize is what an object takes in the slab, not its own size. Reads it into
# nr[f], name[f, i] and, by f and name: active, num_objs, slab_size, per_slab,
# pages_per_slab, slabs. f tells one file from another.

function slabinfo_read(path, f,  line, n, k, i, w, part, data, c) {
	nr[f] = 0
	while ((getline line < path) > 0) {
		if (!n++) {
			if (line !~ /^slabinfo - version: 2\./)
				fail(path " is no slabinfo of version 2: it begins with \"" substr(line, 1, 30) "\"")
			continue
		}
		if (line ~ /^#/ || line ~ /^[ \t]*$/)
			continue
		k = split(line, part, / : /)
		data = ""
		for (i = 2; i <= k; i++)
			if (part[i] ~ /^ *slabdata /)
				data = part[i]
		i = split(data, w, " ")
		if (i < 4 || !number(w[3]))
			fail("line " n " of " path " is no line of a slabinfo")
		data = w[3]
		k = split(part[1], w, " ")
		for (i = k - 4; i <= k; i++)
			if (k < 6 || !number(w[i]) || (i > k - 3 && !(w[i] + 0)))
				fail("line " n " of " path " is no line of a slabinfo")
		c = w[1]
		for (i = 2; i <= k - 5; i++)
			c = c " " w[i]
		if (!((f, c) in slabs))
			name[f, ++nr[f]] = c
		active[f, c] = w[k - 4] + 0
		num_objs[f, c] = w[k - 3] + 0
		slab_size[f, c] = w[k - 2] + 0
		per_slab[f, c] = w[k - 1] + 0
		pages_per_slab[f, c] = w[k] + 0
		slabs[f, c] = data + 0
	}
	finish(path)
	if (!n)
		fail(path " is empty, and no slabinfo")
	page[f] = page_size(f)
}

# The file does not say it: the least into which the objects of all slabs fit.
function page_size(f,  i, c, p) {
	if (ENVIRON["wp_page"] != "")
		return ENVIRON["wp_page"] + 0
	p = 4096
	for (i = 1; i <= nr[f]; i++) {
		c = name[f, i]
		while (per_slab[f, c] * slab_size[f, c] > pages_per_slab[f, c] * p)
			p *= 2
	}
	return p
}

function order_of(pages,  o) {
	for (o = 0; pages > 1; o++)
		pages /= 2
	return pages == 1 ? o : "n/a"
}

# no_cache() - fail, for a cache that is not in the file
function no_cache(c, path) {
	fail("no cache " c " in " path "; it may be merged under the name of another")
}
