#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The module built by clang and linked by lld (LLVM=1), for a kernel that gcc has
# built: no warnings, and only what that kernel exports is called. TAP.
set -u
export ME=tests/host/clang.sh
REPO=$(cd "$(dirname "$0")/../.." && pwd -P)
# shellcheck source-path=SCRIPTDIR source=../vm/lib.sh
. "$REPO/tests/vm/lib.sh"
# shellcheck source-path=SCRIPTDIR source=../vm/module.sh
. "$REPO/tests/vm/module.sh"
need_tools clang ld.lld llvm-nm make
cd "$REPO" || exit 1
tests/vm/run --build-only >/dev/null || exit 1
kernel=$(cat "$CACHE/kernels/6.1/release")
headers=$CHROOT/usr/src/linux-headers-$kernel
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
copy_sources "$REPO" "$dir" Kbuild module

n=0 failed=0
# is_empty NAME LINES: what there is to be said against it
is_empty() {
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - clang: $1"
	else
		failed=1
		echo "not ok $n - clang: $1"
		printf '%s\n' "$2" | head -n 40 | sed 's/^/# /'
	fi
}

# The kernel's configuration says what gcc can do. Told here is what clang has in
# place of it, and what clang 14 does not have: return thunks, int3 behind
# each return, the table of the tracer's calls. Not by objtool, which takes the calls
# out: a kernel of gcc's expects them.
clang_config=(CONFIG_CC_IS_GCC='' CONFIG_GCC_VERSION=0 CONFIG_CC_IS_CLANG=y CONFIG_CLANG_VERSION=140000
	CONFIG_CC_IMPLICIT_FALLTHROUGH=-Wimplicit-fallthrough CONFIG_RETHUNK='' CONFIG_SLS=''
	CONFIG_FTRACE_MCOUNT_USE_CC='' CONFIG_FTRACE_MCOUNT_USE_RECORDMCOUNT=y)
# Up to clang 15 this wants another option to allow it.
clang -Werror -ftrivial-auto-var-init=zero -c -x c /dev/null -o /dev/null 2>/dev/null ||
	clang_config+=(CONFIG_CC_HAS_AUTO_VAR_INIT_ZERO_ENABLER=y)

# The chroot has no clang. This machine has no such headers, whose own Makefile
# names the place where they would be; so the one behind it is used. One header
# of the kernel's takes the address of a packed member.
make -j"$(nproc)" -C "$headers" -f "../linux-headers-${kernel%-*}-common/Makefile" M="$dir" \
	LLVM=1 CC=clang "${clang_config[@]}" KCFLAGS=-Wno-address-of-packed-member modules >"$dir/log" 2>&1
status=$?
is_empty 'it builds' "$([ "$status" = 0 ] || tail -n 40 "$dir/log")"
is_empty 'without a warning' "$(grep -iE -A4 'warning|error' "$dir/log")"
is_empty 'by clang' "$(llvm-readelf -p .comment "$dir/waitprof.ko" | grep -q 'clang version' || echo 'it is not')"
is_empty 'what it calls is exported' "$(llvm-nm -u "$dir/waitprof.ko" | awk '
	FNR == NR { exported[$2] = 1; next }
	!($2 in exported) { print $2 }
	{ n++ }
	END { if (n < 50) print n + 0 " imports: that cannot be all" }' "$headers/Module.symvers" -)"
echo "1..$n"
exit $failed
