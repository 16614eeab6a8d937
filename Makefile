# SPDX-License-Identifier: GPL-2.0
# What people type. What the kernel build reads is in Kbuild.
#
#   make                 build waitprof.ko for the running kernel
#   make install         and install it, and scripts/waitprof
#   make demo            install what is needed, boot a guest, show a report
#   make check           the tests, in guests
#   make check-all       and those that want a kernel built for them
#   make bench           what it costs
#
# KERNELRELEASE=V or KDIR=DIR builds for another kernel.

KERNELRELEASE ?= $(shell uname -r)
KDIR ?= /lib/modules/$(KERNELRELEASE)/build
PREFIX ?= /usr/local

VERSION := $(shell sed -n 's/^\#define WAITPROF_VERSION.*"\(.*\)"/\1/p' module/waitprof.h)
DKMS_DIR := /usr/src/waitprof-$(VERSION)

# The kernel's build takes M= literally.
KBUILD = $(MAKE) -C "$(KDIR)" M="$(CURDIR)"

modules: headers
	$(KBUILD) modules

# It splits its paths at blanks, and then complains of something else.
headers:
	@case "$(CURDIR)$(KDIR)" in *[[:space:]]*) \
		echo "waitprof: the kernel's build takes no path with a blank, as $(CURDIR) or $(KDIR) is: move the tree, or use make dkms-install" >&2; \
		exit 1 ;; \
	esac
	@test -e "$(KDIR)/Makefile" || { \
		echo "waitprof: no kernel headers in $(KDIR): install linux-headers-$(KERNELRELEASE), or say KDIR=" >&2; \
		exit 1; \
	}

modules_install: modules
	$(KBUILD) modules_install

install: modules_install
	install -D -m 0755 scripts/waitprof "$(DESTDIR)$(PREFIX)/sbin/waitprof"
	install -d "$(DESTDIR)$(PREFIX)/lib/waitprof"
	install -m 0644 scripts/lib/*.awk "$(DESTDIR)$(PREFIX)/lib/waitprof"

clean: headers
	$(KBUILD) clean

dkms-install:
	install -d "$(DESTDIR)$(DKMS_DIR)/module/compat"
	install -m 0644 Kbuild Makefile dkms.conf LICENSE "$(DESTDIR)$(DKMS_DIR)"
	install -m 0644 module/*.[ch] "$(DESTDIR)$(DKMS_DIR)/module"
	install -m 0644 module/compat/*.h "$(DESTDIR)$(DKMS_DIR)/module/compat"

demo:
	scripts/setup
	tests/demo

check:
	scripts/setup
	tests/run

check-all:
	scripts/setup
	tests/run --all

bench:
	scripts/setup
	tests/bench/run

style:
	scripts/check

.PHONY: modules headers modules_install install clean dkms-install demo check check-all bench style
