# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Builds the kernels of which tests/vm/kernels names the source package: by
# NAME.config, which says what differs from "all no". That takes half an hour and
# 3 GB for a while; the image, the modules and the headers stay in the cache.

# source_recipe: what a kernel that is in the cache must have been built by.
source_recipe() { hash_of "$VM/$K_NAME.config" "$VM/source.sh"; }

# source_kernel DIR: the kernel's files as packages have them, below DIR/root and
# in the chroot; set K_RELEASE.
source_kernel() {
	local built=$CACHE/built/$K_NAME
	if [ ! -e "$built/ok" ] || [ "$(cat "$built/ok")" != "$(source_recipe)" ]; then
		(build_source "$built") || exit
	fi
	K_RELEASE=$(cat "$built/release")
	if ! tar -xJf "$built/image.tar.xz" --keep-directory-symlink -C "$1/root" ||
		! tar -xJf "$built/headers.tar.xz" --keep-directory-symlink -C "$CHROOT"; then
		die "cannot unpack $built; is the disk full?"
	fi
}

# build_source DIR: image.tar.xz, headers.tar.xz and release in DIR. Runs in a
# shell of its own: the chroot is another, with what a kernel's build wants.
build_source() {
	local built=$1 new=$1.new log=$1.log
	rm -rf "$built" "$new"
	mkdir -p "$new/src/out/boot"
	resolve_kernel
	say "fetching the source of kernel $K_NAME: $K_DEBS..."
	# shellcheck disable=SC2086 # a list
	(cd "$new" && apt_private apt-get download $K_DEBS) >"$APT_DIR/log" 2>&1 ||
		die "cannot download $K_DEBS: $(grep -m1 '^E:' "$APT_DIR/log"); see $APT_DIR/log"
	CHROOT=$CACHE/built/chroot
	CHROOT_PACKAGES+=,bc,bison,cpio,flex,gzip,libelf-dev,libssl-dev,m4,rsync,tar
	fetch_chroot
	say "unpacking the source ..."
	dpkg-deb --fsys-tarfile "$new"/*.deb | tar -xO "./usr/src/linux-source-$K_RELEASE.tar.xz" |
		tar -xJ --strip-components=1 -C "$new/src" || die "cannot unpack $K_DEBS; is the disk full?"
	cp "$VM/$K_NAME.config" "$new/src/all.config"
	in_source allnoconfig KCONFIG_ALLCONFIG=all.config >"$log" 2>&1 ||
		die "cannot configure kernel $K_NAME: see $log"
	config_holds "$new/src"
	K_RELEASE=$(in_source -s kernelrelease) || die "cannot tell the release of kernel $K_NAME"
	say "building kernel $K_RELEASE: half an hour, once; see $log ..."
	{
		in_source -j"$(nproc)" bzImage modules &&
			in_source modules_install INSTALL_MOD_PATH=out INSTALL_MOD_STRIP=1 &&
			in_source run-command KBUILD_RUN_COMMAND="scripts/package/install-extmod-build out/usr/src/linux-headers-$K_RELEASE"
	} >>"$log" 2>&1 || die "kernel $K_NAME does not build: $(grep -m1 -E 'error:|Error ' "$log"); see $log"
	cp "$new/src/arch/x86/boot/bzImage" "$new/src/out/boot/vmlinuz-$K_RELEASE"
	mkdir -p "$built"
	if ! tar -C "$new/src/out" -cJf "$built/image.tar.xz" boot lib ||
		! tar -C "$new/src/out" -cJf "$built/headers.tar.xz" usr; then
		die "cannot write $built; is the disk full?"
	fi
	echo "$K_RELEASE" >"$built/release"
	source_recipe >"$built/ok"
	rm -rf "$new" "$log" "$CHROOT" "$APT_DIR"
}

# in_source ARGS...: make in the tree of build_source.
in_source() {
	in_chroot --bind "$new/src" make -C /build --no-print-directory \
		KBUILD_BUILD_USER=waitprof KBUILD_BUILD_HOST=waitprof "$@"
}

# config_holds TREE: kconfig drops in silence what depends on something else.
config_holds() {
	local line bad=
	while read -r line; do
		case $line in
		*=n) ! grep -q "^${line%=n}=" "$1/.config" ;;
		*) grep -qxF "$line" "$1/.config" ;;
		esac || bad="$bad $line"
	done < <(grep '^CONFIG_' "$1/all.config")
	[ -z "$bad" ] || die "not so in the configuration of $K_NAME:$bad"
}
