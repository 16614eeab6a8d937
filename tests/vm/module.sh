# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034 # MODULE_DIR and FIXTURES_CPIO are for the caller
# Builds the module, the fixture modules and the fixture programs in the chroot.

# copy_sources FROM TO NAME...: what is source; leftovers of other builds stay behind.
copy_sources() {
	local from=$1 to=$2
	shift 2
	mkdir -p "$to"
	tar -C "$from" --exclude='*.o' --exclude='*.ko' --exclude='*.mod' --exclude='*.mod.c' \
		--exclude='.*.cmd' --exclude='*.cmd' --exclude=Module.symvers --exclude=modules.order -c "$@" |
		tar -C "$to" -x
}

# make_modules DIR [MAKE ARGS...]: the sources are in DIR/src; output on stdout.
# CC: the headers name the compiler of the kernel, the chroot has its own.
make_modules() {
	local dir=$1 m status=0
	shift
	for m in /build/src /build/src/tests/kmod; do
		[ -e "$dir${m#/build}/Kbuild" ] || [ -e "$dir${m#/build}/Makefile" ] || continue
		in_chroot --bind "$dir" make -j"$(nproc)" -C "/usr/src/linux-headers-$K_RELEASE" \
			"${K_MAKE[@]}" M="$m" CC="${K_CROSS}gcc" KBUILD_EXTRA_SYMBOLS="$([ $m = /build/src ] || echo /build/src/Module.symvers)" \
			"$@" modules 2>&1 || status=$?
		[ "$status" = 0 ] || break
	done
	return "$status"
}

module_sources() {
	local name
	for name in Kbuild module tests/kmod; do
		[ ! -e "$REPO/$name" ] || echo "$name"
	done
}

# worth_showing LOG: does the output hold a warning or an error? The one about
# the compiler's version is known: the chroot's is newer than the kernel's.
worth_showing() {
	grep -v 'the compiler differs from the one used' "$1" | grep -Eiq 'warning:|error:|modpost:'
}

# build_module: set MODULE_DIR to the directory that holds waitprof.ko and a
# mods.cpio for the guest; build only if a source changed.
build_module() {
	local dir=$CACHE/build/$K_NAME stamp names
	MODULE_DIR=$dir/src
	[ -e "$REPO/Kbuild" ] || die "no Kbuild in $REPO: there is no module to build"
	mapfile -t names < <(module_sources)
	stamp="$K_RELEASE $(cd "$REPO" && hash_of "${names[@]}") $(hash_of "$VM/module.sh")"
	if [ -e "$dir/stamp" ] && [ "$(cat "$dir/stamp")" = "$stamp" ]; then
		return
	fi
	rm -rf "$dir"
	mkdir -p "$dir"
	copy_sources "$REPO" "$dir/src" "${names[@]}"
	say "building the module for $K_RELEASE ..."
	if ! make_modules "$dir" >"$dir/log"; then
		cat "$dir/log" >&2
		die "the module does not build for kernel $K_NAME ($K_RELEASE)"
	fi
	[ -e "$dir/src/waitprof.ko" ] || die "the build made no waitprof.ko; see $dir/log"
	! worth_showing "$dir/log" || cat "$dir/log" >&2
	pack_modules "$dir"
	echo "$stamp" >"$dir/stamp"
}

# pack_modules DIR: DIR/mods.cpio with the built modules, as files in /waitprof
# and for modprobe.
pack_modules() {
	local dir=$1 tree=$1/tree ko
	local to=$tree/lib/modules/$K_RELEASE
	mkdir -p "$tree/lib/modules" "$tree/waitprof"
	cp -al "$K_DIR/tree/lib/modules/$K_RELEASE" "$to" 2>/dev/null ||
		cp -a "$K_DIR/tree/lib/modules/$K_RELEASE" "$to"
	mkdir -p "$to/extra"
	for ko in "$dir"/src/*.ko "$dir"/src/tests/kmod/*.ko; do
		[ -e "$ko" ] || continue
		# Without the debugging information, as modules_install would do.
		in_chroot --bind "$dir" "${K_CROSS}strip" -g "/build/${ko#"$dir/"}" -o "/build/tree/waitprof/${ko##*/}" ||
			die "cannot strip $ko"
		cp "$tree/waitprof/${ko##*/}" "$to/extra/"
	done
	rm -f "$to"/modules.{dep,alias,symbols,devname,softdep}* "$to"/modules.*.bin
	depmod -b "$tree" "$K_RELEASE" || die "depmod failed on the built modules"
	rm -rf "$to/kernel"
	(cd "$tree" && find . -mindepth 1 | LC_ALL=C sort | cpio -o -H newc --quiet) >"$dir/mods.cpio" ||
		die "cannot write $dir/mods.cpio; is the disk full?"
	rm -rf "$tree"
}

# build_fixtures: set FIXTURES_CPIO; the programs are static, linked in the chroot.
build_fixtures() {
	local dir=$CACHE/build/fixtures-$K_ARCH stamp
	FIXTURES_CPIO=$dir/fixtures.cpio
	mkdir -p "$dir"
	if [ ! -d "$REPO/tests/fixtures" ]; then
		rm -f "$dir/stamp"
		: >"$FIXTURES_CPIO"
		return
	fi
	stamp="$(cd "$REPO" && hash_of tests/fixtures) $(hash_of "$VM/module.sh")"
	if [ -e "$dir/stamp" ] && [ "$(cat "$dir/stamp")" = "$stamp" ]; then
		return
	fi
	rm -rf "$dir"
	copy_sources "$REPO/tests" "$dir/waitprof" fixtures
	say "building the fixture programs ..."
	if ! in_chroot --bind "$dir/waitprof" make -j"$(nproc)" -C /build/fixtures CC="${K_CROSS}gcc" LDFLAGS=-static >"$dir/log" 2>&1; then
		cat "$dir/log" >&2
		die "the fixture programs do not build"
	fi
	! worth_showing "$dir/log" || cat "$dir/log" >&2
	(cd "$dir" && find waitprof ! -name '*.o' | LC_ALL=C sort | cpio -o -H newc --quiet) >"$FIXTURES_CPIO"
	echo "$stamp" >"$dir/stamp"
}
