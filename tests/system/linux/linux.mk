# SPDX-License-Identifier: GPL-2.0-only
# What the system tests run in the 6.1 guest: programs of /bin that the kernel's word
# vellum.run= names. Included by the top Makefile after bench.mk, whose variables it uses.

LINUX_TESTS_SOURCES := tests/system/linux
LINUX_TESTS         := $(BUILD)/linux-tests
LINUX_TESTS_PROGRAMS := $(addprefix $(LINUX_TESTS)/,frames soak timed)
LINUX_TESTS_INITRAMFS := $(BUILD)/linux-tests.cpio

$(LINUX_TESTS)/soak $(LINUX_TESTS)/timed: $(LINUX_TESTS_SOURCES)/clocks.c $(LINUX_TESTS_SOURCES)/clocks.h

# With GS bad there is no stack protector's value to be read.
$(LINUX_TESTS)/%: $(LINUX_TESTS_SOURCES)/%.c
	@mkdir -p $(@D)
	$(QUIET_CC)$(HOSTCC) $(BENCH_CFLAGS) -fno-stack-protector -o $@ $(filter %.c,$^)

$(LINUX_TESTS_INITRAMFS): $(BENCH_PROGRAMS) $(LINUX_TESTS_PROGRAMS) $(LINUX_TESTS_SOURCES)/everyday \
			  tests/bench/initramfs $(wildcard tests/bench/guest_image/*.py) \
			  tests/bench/guest_image/init
	tests/bench/initramfs --output $@ $(addprefix --busybox ,$(BUSYBOX)) $(BENCH_PROGRAMS) \
		$(LINUX_TESTS_PROGRAMS) $(LINUX_TESTS_SOURCES)/everyday

linux-tests-files: $(LINUX_TESTS_INITRAMFS)
.PHONY: linux-tests-files
