# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034 # variables for the scripts that read this file
# Common to tests/vm/run and tests/vm/build: messages, cache, table of kernels.

# The caller has set these: where the repository is, and its own name.
: "${REPO:?}" "${ME:?}"

CACHE=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/waitprof
CHROOT=$CACHE/chroot
VM=$REPO/tests/vm

# Exit status for "the guest or the rig failed", as opposed to the command's own.
RIG_FAILED=125

say() { printf 'waitprof: %s\n' "$*" >&2; }

die() {
	printf '%s: %s\n' "$ME" "$*" >&2
	exit "$RIG_FAILED"
}

# need_tools TOOL...: stop if a host program is missing.
need_tools() {
	local tool missing=
	for tool; do
		command -v "$tool" >/dev/null 2>&1 || missing="$missing $tool"
	done
	[ -z "$missing" ] || die "missing on this machine:$missing; run scripts/setup"
}

# need_root: chroot, mount and mknod want it.
need_root() {
	[ "$(id -u)" = 0 ] || die "root is needed (chroot and mount); run it as root"
}

# kernel_row NAME: set K_NAME, K_ARCH, K_SUITES, K_PATTERN, K_PACKAGES, K_DIR, and
# what goes with the architecture: K_MAKE, arguments for the kernel's make;
# K_CROSS, what the names of the compiler and its tools begin with; and QEMU's
# name, machine, processor (another with --icount) and console.
kernel_row() {
	local row
	row=$(awk -v n="$1" '$1 == n' "$VM/kernels")
	[ -n "$row" ] || die "unknown kernel '$1'; tests/vm/kernels has: $(kernel_names)"
	read -r K_NAME K_ARCH K_SUITES K_PATTERN K_PACKAGES <<<"$row"
	K_DIR=$CACHE/kernels/$K_NAME
	case $K_ARCH in
	amd64)
		K_MAKE=() K_CROSS=''
		K_QEMU=qemu-system-x86_64 K_MACHINE=() K_CPU=max K_CPU_ICOUNT=qemu64 K_CONSOLE=ttyS0
		;;
	arm64)
		K_CROSS=aarch64-linux-gnu- K_MAKE=(ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-)
		K_QEMU=qemu-system-aarch64 K_MACHINE=(-M "virt,gic-version=3") K_CONSOLE=ttyAMA0
		# Return addresses are signed, by a function that costs little here
		K_CPU=max,pauth-impdef=on K_CPU_ICOUNT=$K_CPU
		;;
	*) die "kernel '$1' is of architecture '$K_ARCH', which tests/vm/lib.sh does not know" ;;
	esac
}

kernel_names() { awk '!/^#/ && NF { printf "%s%s", sep, $1; sep = " " }' "$VM/kernels"; }

# lock / unlock: one preparation (fetch, build) at a time per cache.
lock() {
	mkdir -p "$CACHE" || die "cannot create $CACHE; set XDG_CACHE_HOME to a writable directory"
	exec 9>"$CACHE/lock"
	flock -n 9 || {
		say "waiting for another tests/vm run to finish its preparation ..."
		flock 9
	}
}
unlock() { exec 9>&-; }

# in_chroot [--bind DIR] COMMAND...: run in the build chroot, with /proc (objtool
# reads it) and DIR as /build. The mounts live in a name space of their own.
in_chroot() {
	local bind=
	if [ "$1" = --bind ]; then
		bind=$2
		shift 2
	fi
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare -m sh -c '
		root=$1 bind=$2; shift 2
		mount -t proc proc "$root/proc" || exit
		[ -z "$bind" ] || mount --bind "$bind" "$root/build" || exit
		exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin \
			HOME=/root LC_ALL=C.UTF-8 "$@"' sh "$CHROOT" "$bind" "$@" 9>&-
}

# hash_of PATH...: one hash over names and contents of all files below.
hash_of() {
	find "$@" -type f -print0 | LC_ALL=C sort -z | xargs -0r sha256sum | sha256sum | cut -c1-32
}
