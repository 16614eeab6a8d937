#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# As on a real box, but in the build chroot: make, make install, and DKMS add,
# build, install, status, remove for a kernel that is not running, signed with a
# key of the user's; paths with a blank; a kernel without CONFIG_KPROBES. TAP.
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

# With the chroot's kernel headers, or those in $headers in their place, and a
# directory /etc of its own; the mounts go with the command.
headers=''
there() {
	# shellcheck disable=SC2016 # expanded in the chroot
	in_chroot --bind "$dir" busybox sh -c 'mount --bind /build/etc /etc &&
		{ [ -z "$1" ] || mount --bind "$1" "$2"; } && shift 2 && exec "$@"' sh \
		"$headers" "/usr/src/linux-headers-$kernel" "$@" >"$dir/log" 2>&1 </dev/null
	local status=$?
	cat "$dir/log" >>"$dir/log.all"
	return $status
}
trees=(--dkmstree /build/tree --sourcetree /build/usr/src --installtree /build/lib/modules)
dkms() {
	there env MAKEFLAGS=CC=gcc bash /build/dkms "$1" "${trees[@]}" -m waitprof -v "$version" -k "$kernel"
}
# As the hooks of kernel packages call it: for no module in particular
autoinstall() { there env MAKEFLAGS=CC=gcc bash /build/dkms autoinstall "${trees[@]}" --kernelver "$kernel"; }
# The chroot's kernel headers name the kernel's compiler, which is not there.
make_there() { there make -C /build/src KERNELRELEASE="$kernel" CC=gcc "$@"; }
# lines PATTERN: of the log
lines() { grep -c -- "$1" "$dir/log"; }

mkdir -p "$dir/src/tests" "$dir/tree" "$dir/lib/modules/$kernel" "$dir/etc/dkms"
cp -R Kbuild Makefile dkms.conf LICENSE module scripts "$dir/src/"
find "$dir/src" \( -name '*.o' -o -name '*.cmd' -o -name '*.ko' \) -delete
cp -R "$dir/src" "$dir/a blank"
cp /usr/sbin/dkms "$dir/dkms" || die "no dkms on this machine; run scripts/setup"
cp "$CHROOT/etc/os-release" "$dir/etc/"
openssl req -new -x509 -nodes -days 2 -newkey rsa:2048 -subj '/CN=waitprof test key/' \
	-keyout "$dir/etc/dkms/key" -outform DER -out "$dir/etc/dkms/certificate" 2>"$dir/log" ||
	die "openssl makes no key: $(tail -n 1 "$dir/log")"
printf 'mok_signing_key=/etc/dkms/%s\nmok_certificate=/etc/dkms/%s\n' key certificate >"$dir/etc/dkms/framework.conf"

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

# The kernel's build stops there with "building multiple external modules is not
# supported", 5.10 to 7.3 alike.
! make_there -C "/build/a blank" && [ "$(lines 'waitprof: .*no path with a blank.*make dkms-install')" = 1 ] &&
	[ "$(lines 'multiple external modules')" = 0 ]
ok 'in a path with a blank make says what to do' $?
! make_there KDIR="/build/a blank" && [ "$(lines 'waitprof: .*no path with a blank')" = 1 ]
ok 'and where the headers have such a path' $?
make_there -C "/build/a blank" dkms-install DESTDIR="/build/other blank"
trees[3]="/build/other blank/usr/src"
dkms add && dkms build
ok 'dkms builds what lies in a path with a blank' $?
dkms remove
trees[3]=/build/usr/src

for step in add build install; do
	dkms $step
	ok "dkms $step" $?
done
log=$dir/tree/waitprof/$version/$kernel/x86_64/log/make.log
# Field case C3
[ -e "$log" ] && ! grep -q "/lib/modules/$(uname -r)" "$log"
ok 'the running kernel is not in the log of the build' $?
ko=$(find "$dir/lib/modules/$kernel" -name 'waitprof.ko*' | head -n 1)
[ -n "$ko" ] && [ "$(modinfo -F vermagic "$ko" | cut -d' ' -f1)" = "$kernel" ]
ok 'the installed module is for that kernel' $?
serial=$(openssl x509 -inform DER -in "$dir/etc/dkms/certificate" -noout -serial)
[ "$(modinfo -F signer "$ko")" = 'waitprof test key' ] &&
	[ "$(modinfo -F sig_key "$ko" | tr -d :)" = "${serial#serial=}" ]
ok "it is signed with the user's key" $?
dkms status
grep -q "waitprof.*$version.*installed" "$dir/log"
ok 'dkms status says installed' $?
dkms remove
ok 'dkms remove' $?
[ -z "$(find "$dir/lib/modules" -name 'waitprof.ko*')" ]
ok 'and nothing is left' $?

# Field case C4
cp -R "$CHROOT/usr/src/linux-headers-$kernel" "$dir/headers"
find "$dir/headers/.config" "$dir/headers/include/config/auto.conf" "$dir/headers/include/generated/autoconf.h" \
	-exec sed -i '/^\(#define \)\?CONFIG_KPROBES[= ]/d' {} +
headers=/build/headers
dkms add
autoinstall && [ "$(wc -l <"$dir/log")" = 1 ] &&
	grep -q "^waitprof: not for $kernel: it has no CONFIG_KPROBES" "$dir/log"
ok 'a kernel without CONFIG_KPROBES: dkms autoinstall passes it over, in one line' $?
[ -z "$(find "$dir/tree" "$dir/lib/modules" -name 'waitprof.ko*')" ]
ok 'and builds nothing' $?
! dkms build && [ "$(lines 'BUILD_EXCLUSIVE')" = 1 ]
ok 'dkms build refuses it' $?
! make_there && [ "$(lines 'error:')" = 1 ] && grep -q 'error "waitprof needs a kernel with CONFIG_KPROBES"' "$dir/log"
ok 'make: one error that says why' $?
headers=''
autoinstall && [ -n "$(find "$dir/lib/modules" -name 'waitprof.ko*')" ]
ok 'dkms autoinstall for one that has it' $?
! grep -q 'Deprecated feature' "$dir/log.all"
ok 'nothing of it is deprecated' $?
echo "1..$n"
exit $failed
