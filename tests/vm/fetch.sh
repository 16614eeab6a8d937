# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Fetches kernels, headers and the build chroot into the cache. Everything is
# pinned there: a second run needs no network. To start afresh, remove
# kernels/NAME (or the whole cache).

# shellcheck source-path=SCRIPTDIR source=source.sh
. "$VM/source.sh"

# Kernel modules that go into the guest, with what they depend on; a name that
# a kernel does not have, or has built in, is passed over.
GUEST_MODULES="virtio_pci virtio_console virtio_blk virtio_net virtio_rng 9p 9pnet_virtio
	ext4 xfs vfat fuse overlay squashfs loop null_blk brd dm_mod dm_delay dm_flakey
	scsi_debug sd_mod raw tun veth bridge dummy sch_netem crc32c_generic crc32c_intel
	libcrc32c nls_cp437 nls_ascii nls_utf8"

# What the chroot holds: the compiler and what the kernel's build tools are
# linked with; pahole for BTF (6.12 and later fail without it); libc6-dev for
# the fixtures; the same for arm64; sparse for C=2; kmod and busybox for the guest.
CHROOT_PACKAGES=gcc,make,libc6-dev,gcc-aarch64-linux-gnu,libc6-dev-arm64-cross,libelf1t64,libssl3t64,pahole,perl,sparse,kmod,busybox-static,coreutils,dash,bash,sed,grep,gawk,findutils,diffutils,xz-utils,libc-bin

# mirror KIND: the Debian mirror (main or security) of this machine's apt configuration.
mirror() {
	# shellcheck disable=SC2016 # apt's own variables
	apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' 2>/dev/null |
		awk -v kind="$1" '
			/debian/ && ($2 ~ /-security$/) == (kind == "security") { print $1; exit }'
}

# sources SUITES: lines for a sources.list.
sources() {
	local base security suite keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	local options=
	base=$(mirror main)
	security=$(mirror security)
	[ -n "$base" ] || die "no Debian mirror in this machine's apt configuration (apt-get indextargets); add one to fetch kernels"
	[ -r "$keyring" ] && options="[signed-by=$keyring] "
	for suite in ${1//,/ }; do
		case $suite in
		*-security) [ -z "$security" ] || echo "deb $options$security $suite main" ;;
		*) echo "deb $options$base $suite main" ;;
		esac
	done
}

# apt_private TOOL ARGS...: apt with its own lists in $APT_DIR; the machine's
# sources and status are not touched. The package cache is kept (some
# configurations switch it off, which costs seconds a call).
apt_private() {
	local tool=$1
	shift
	"$tool" -q -o Dir::Etc::SourceList="$APT_DIR/sources.list" -o Dir::Etc::SourceParts=/dev/null \
		-o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
		-o Dir::State::Lists="$APT_DIR/lists" -o Dir::State::status="$APT_DIR/status" \
		-o Dir::Cache="$APT_DIR/cache" -o Dir::Cache::pkgcache=pkgcache.bin \
		-o Dir::Cache::srcpkgcache=srcpkgcache.bin -o APT::Architecture="$K_ARCH" \
		-o APT::Architectures::="$K_ARCH" -o APT::Architectures::=amd64 \
		-o APT::Sandbox::User=root "$@"
}

# resolve_kernel: the highest release of the line, and all packages wanted for it.
resolve_kernel() {
	local package
	APT_DIR=$CACHE/apt/$K_NAME
	mkdir -p "$APT_DIR/lists/partial" "$APT_DIR/cache/archives/partial"
	: >"$APT_DIR/status"
	sources "$K_SUITES" >"$APT_DIR/sources.list"
	say "fetching package lists for kernel $K_NAME (${K_SUITES//,/, }) ..."
	apt_private apt-get update >"$APT_DIR/log" 2>&1 ||
		die "apt-get update failed for $K_SUITES: $(grep -m1 '^E:' "$APT_DIR/log"); see $APT_DIR/log"
	package=${K_PACKAGES%%,*}
	K_RELEASE=$(apt_private apt-cache search --names-only "^${package/@/$K_PATTERN}\$" |
		awk '{ print $1 }' | sed "s/^${package%@*}//" | sort -V | tail -n1)
	[ -n "$K_RELEASE" ] || die "no package matches ${package/@/$K_PATTERN} in $K_SUITES; correct tests/vm/kernels"
	K_DEBS=${K_PACKAGES//@/$K_RELEASE}
	K_DEBS=${K_DEBS//,/ }
	# shellcheck disable=SC2086 # a list
	K_DEBS="$K_DEBS $(apt_private apt-cache depends --no-recommends --no-suggests $K_DEBS |
		awk '$1 == "Depends:" && $2 ~ /^linux-(binary|modules|base|headers)-[0-9]/ { print $2 }
			# Programs that run in the chroot.
			$1 == "Depends:" && $2 ~ /^linux-kbuild-[0-9]/ { print $2 ":amd64" }' |
		sort -u | tr '\n' ' ')"
}

# unpack ROOT DEB...: for trees where lib may be a symbolic link to usr/lib.
unpack() {
	local root=$1 deb
	shift
	for deb; do
		dpkg-deb --fsys-tarfile "$deb" | tar -x --keep-directory-symlink -C "$root" ||
			die "cannot unpack $deb; is the disk full?"
	done
}

# fetch_kernel: image, modules, headers and the base of the initramfs; what is
# in the cache is taken if it was made by this recipe and its headers are there.
fetch_kernel() {
	local new=$K_DIR.new vmlinuz recipe
	fetch_chroot
	recipe=$(echo "$GUEST_MODULES $(declare -f make_base)" | sha256sum)
	case $K_PACKAGES in linux-source-*) recipe="$recipe $(source_recipe)" ;; esac
	if [ -e "$K_DIR/ok" ] && [ "$(cat "$K_DIR/ok")" = "$recipe" ]; then
		K_RELEASE=$(cat "$K_DIR/release")
		[ ! -e "$CHROOT/usr/src/linux-headers-$K_RELEASE" ] || return 0
	fi
	rm -rf "$new" "$K_DIR"
	mkdir -p "$new/debs" "$new/root/usr/lib"
	ln -s usr/lib "$new/root/lib"
	case $K_PACKAGES in
	linux-source-*) source_kernel "$new" ;;
	*) package_kernel "$new" ;;
	esac
	for vmlinuz in "$new/root/boot/vmlinuz-$K_RELEASE" "$new/root/lib/modules/$K_RELEASE/vmlinuz"; do
		[ ! -e "$vmlinuz" ] || mv "$vmlinuz" "$new/vmlinuz"
	done
	[ -e "$new/vmlinuz" ] || die "no vmlinuz in the packages of $K_RELEASE; report this"
	make_base "$new"
	echo "$K_RELEASE" >"$new/release"
	rm -rf "$new/debs" "$new/root"
	echo "$recipe" >"$new/ok"
	mv "$new" "$K_DIR"
}

# package_kernel DIR: the kernel's packages, unpacked below DIR/root and in the
# chroot; set K_RELEASE.
package_kernel() {
	local new=$1 deb
	resolve_kernel
	say "fetching kernel $K_NAME: $K_RELEASE ..."
	# shellcheck disable=SC2086 # a list
	(cd "$new/debs" && apt_private apt-get download $K_DEBS) >"$APT_DIR/log" 2>&1 ||
		die "cannot download kernel $K_RELEASE: $(grep -m1 '^E:' "$APT_DIR/log"); see $APT_DIR/log"
	say "unpacking kernel $K_RELEASE and its headers ..."
	for deb in "$new"/debs/*.deb; do
		case $deb in
		*/linux-headers-* | */linux-kbuild-*) unpack "$CHROOT" "$deb" ;;
		*) unpack "$new/root" "$deb" ;;
		esac
	done
	rm -rf "$APT_DIR"
}

# fetch_chroot: one Debian 13 tree builds the modules for all kernels, whatever
# compiler this machine has.
fetch_chroot() {
	local log=$CACHE/chroot.log
	if [ -e "$CHROOT/ok" ] && [ "$(cat "$CHROOT/ok")" = "$CHROOT_PACKAGES" ]; then
		return
	fi
	need_tools mmdebstrap
	say "fetching the build chroot (about 300 MB, once) ..."
	rm -rf "$CHROOT" "$CHROOT.new"
	sources trixie >"$CACHE/chroot.list"
	[ -s "$CACHE/chroot.list" ] || exit "$RIG_FAILED"
	# The machine's own download settings (proxy and the like) hold here too.
	apt-config dump | grep '^Acquire::' >"$CACHE/chroot.conf"
	mmdebstrap --mode=root --variant=extract --skip=check/empty --aptopt="$CACHE/chroot.conf" \
		--include="$CHROOT_PACKAGES" trixie "$CHROOT.new" "$CACHE/chroot.list" >"$log" 2>&1 </dev/null ||
		die "mmdebstrap failed: $(grep -m1 '^E:' "$log"); see $log"
	# Unpacked only, never configured: no alternatives, no linker cache.
	ln -sf gawk "$CHROOT.new/usr/bin/awk"
	mkdir -p "$CHROOT.new/build"
	echo "$CHROOT_PACKAGES" >"$CHROOT.new/ok"
	mv "$CHROOT.new" "$CHROOT"
}

# make_base DIR: DIR/base.cpio, the part of the initramfs that changes only with
# the kernel: busybox, the modules. DIR/tree stays, for depmod over added modules.
make_base() {
	local dir=$1 tree=$1/tree busybox=$CHROOT/usr/bin/busybox module file link
	say "making the guest's base for $K_RELEASE ..."
	mkdir -p "$tree/bin" "$tree/lib/modules/$K_RELEASE" "$tree"/{dev,proc,sys,run,tmp,root,mnt,share,etc,waitprof}
	# Of another architecture it is among the kernel's packages.
	[ "$K_ARCH" = amd64 ] || busybox=$dir/root/usr/bin/busybox
	cp "$busybox" "$tree/bin/busybox" || die "no busybox for $K_ARCH; correct tests/vm/kernels"
	chroot "$CHROOT" /usr/bin/busybox --list-full | while read -r link; do
		mkdir -p "$tree/${link%/*}"
		[ -e "$tree/$link" ] || ln -s /bin/busybox "$tree/$link"
	done
	printf '%s\n' root::0:0:root:/root:/bin/sh nobody:x:65534:65534:nobody:/:/bin/sh >"$tree/etc/passwd"
	printf '%s\n' root:x:0: nogroup:x:65534: >"$tree/etc/group"
	echo '127.0.0.1 localhost guest' >"$tree/etc/hosts"
	depmod -b "$dir/root" "$K_RELEASE" || die "depmod failed on $K_RELEASE"
	for module in $GUEST_MODULES; do
		modprobe -C /dev/null -d "$dir/root" -S "$K_RELEASE" --show-depends "$module" 2>/dev/null |
			awk '$1 == "insmod" { print $2 }'
	done | sort -u | while read -r file; do
		file=${file#*"/modules/$K_RELEASE/"}
		mkdir -p "$tree/lib/modules/$K_RELEASE/${file%/*}"
		# Plain .ko in the guest: its busybox may not know the compression.
		case $file in
		*.xz) xz -dc "$dir/root/lib/modules/$K_RELEASE/$file" >"$tree/lib/modules/$K_RELEASE/${file%.xz}" ;;
		*.zst) zstd -qdc "$dir/root/lib/modules/$K_RELEASE/$file" >"$tree/lib/modules/$K_RELEASE/${file%.zst}" ;;
		*) cp "$dir/root/lib/modules/$K_RELEASE/$file" "$tree/lib/modules/$K_RELEASE/$file" ;;
		esac || die "cannot unpack module $file"
	done
	cp "$dir/root/lib/modules/$K_RELEASE"/modules.{builtin,builtin.modinfo,order} "$tree/lib/modules/$K_RELEASE/"
	depmod -b "$tree" "$K_RELEASE" || die "depmod failed on the guest's modules"
	(cd "$tree" && find . -mindepth 1 | LC_ALL=C sort | cpio -o -H newc --quiet) >"$dir/base.cpio" ||
		die "cannot write $dir/base.cpio; is the disk full?"
}
