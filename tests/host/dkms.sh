#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# As on a real box, but in the build chroot: make, make install, and DKMS add,
# build, install, status, remove for a kernel that is not running. TAP.
set -u
export ME=tests/host/dkms.sh
REPO=$(cd "$(dirname "$0")/../.." && pwd -P)
# shellcheck source-path=SCRIPTDIR source=../vm/lib.sh
. "$REPO/tests/vm/lib.sh"
cd "$REPO" || exit 1
tests/vm/run --build-only >/dev/null || exit 1
kernel=$(cat "$CACHE/kernels/6.1/release")
version=$(sed -n 's/^#define WAITPROF_VERSION.*"\(.*\)"/\1/p' module/waitprof.h)
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

n=0 failed=0
ok() { # NAME STATUS
	n=$((n + 1))
	if [ "$2" = 0 ]; then
		echo "ok $n - dkms: $1"
	else
		failed=1
		echo "not ok $n - dkms: $1"
		tail -n 20 "$dir/log" | sed 's/^/# /'
	fi
}

there() { in_chroot --bind "$dir" "$@" >"$dir/log" 2>&1 </dev/null; }
dkms() {
	there env MAKEFLAGS=CC=gcc bash /build/dkms "$1" --dkmstree /build/tree --sourcetree /build/usr/src \
		--installtree /build/lib/modules -m waitprof -v "$version" -k "$kernel"
}
# The chroot's kernel headers name the kernel's compiler, which is not there.
make_there() { there make -C /build/src KERNELRELEASE="$kernel" CC=gcc "$@"; }

mkdir -p "$dir/src/tests" "$dir/tree" "$dir/lib/modules/$kernel"
cp -R Kbuild Makefile dkms.conf LICENSE module scripts "$dir/src/"
find "$dir/src" \( -name '*.o' -o -name '*.cmd' -o -name '*.ko' \) -delete
cp /usr/sbin/dkms "$dir/dkms" || die "no dkms on this machine; run scripts/setup"

make_there
ok 'make builds for the kernel that is named' $?
[ "$(modinfo -F vermagic "$dir/src/waitprof.ko" 2>/dev/null | cut -d' ' -f1)" = "$kernel" ]
ok 'and for no other' $?
[ -n "$(modinfo -F license "$dir/src/waitprof.ko" 2>/dev/null)" ] && [ "$(modinfo -F version "$dir/src/waitprof.ko")" = "$version" ]
ok 'modinfo tells licence and version' $?
make_there install DESTDIR=/build/dest INSTALL_MOD_PATH=/build/dest
[ -n "$(find "$dir/dest" -name 'waitprof.ko*')" ] && [ -x "$dir/dest/usr/local/sbin/waitprof" ]
ok 'make install puts module and tool in place' $?
make_there dkms-install DESTDIR=/build
[ -e "$dir/usr/src/waitprof-$version/dkms.conf" ]
ok 'make dkms-install puts the source in place' $?
make_there clean
[ -z "$(find "$dir/src" -name '*.ko')" ]
ok 'make clean' $?
! make_there KDIR=/nowhere && grep -q 'no kernel headers in /nowhere' "$dir/log"
ok 'without headers make says what to do' $?

for step in add build install; do
	dkms $step
	ok "dkms $step" $?
done
log=$dir/tree/waitprof/$version/$kernel/x86_64/log/make.log
[ -e "$log" ] && ! grep -q "/lib/modules/$(uname -r)" "$log"
ok 'the running kernel is not in the log of the build' $?
ko=$(find "$dir/lib/modules/$kernel" -name 'waitprof.ko*' | head -n 1)
[ -n "$ko" ] && [ "$(modinfo -F vermagic "$ko" | cut -d' ' -f1)" = "$kernel" ]
ok 'the installed module is for that kernel' $?
dkms status
grep -q "waitprof.*$version.*installed" "$dir/log"
ok 'dkms status says installed' $?
dkms remove
ok 'dkms remove' $?
[ -z "$(find "$dir/lib/modules" -name 'waitprof.ko*')" ]
ok 'and nothing is left' $?
echo "1..$n"
exit $failed
