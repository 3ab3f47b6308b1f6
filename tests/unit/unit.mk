# SPDX-License-Identifier: GPL-2.0-only
#
# Unit tests: the hypervisor's pure C, compiled for the host with ASan and UBSan and
# tested with cmocka. The top Makefile includes this; one program alone runs as
#   make -f tests/unit/unit.mk build/unit/test_NAME.run
#
# To add a module: append its source to PURE_SOURCES and write test_NAME.c here.
# A test that needs more sets UNIT_CFLAGS_test_NAME, or adds prerequisites to
# $(UNIT)/tests/unit/test_NAME.o.

BUILD ?= build
HOSTCC ?= gcc

UNIT := $(BUILD)/unit

PURE_SOURCES += \
	boot/boot.c \
	boot/boot_params.c \
	boot/efi.c \
	boot/efi_files.c \
	boot/efi_memory.c \
	boot/efi_pxe.c \
	boot/efi_tables.c \
	boot/loader_data.c \
	boot/multiboot.c \
	boot/multiboot2.c \
	hv/core/cmdline.c \
	hv/dev/acpi.c \
	hv/guest/config.c \
	hv/guest/bios_page.c \
	hv/guest/disk.c \
	hv/guest/e820.c \
	hv/guest/efi_map.c \
	hv/guest/elf_image.c \
	hv/guest/linux.c \
	hv/guest/linux_image.c \
	hv/guest/linux_params.c \
	hv/guest/linux_place.c \
	hv/guest/loader.c \
	hv/guest/module.c \
	hv/guest/multiboot1_info.c \
	hv/guest/multiboot2_info.c \
	hv/guest/multiboot_info.c \
	hv/guest/multiboot_kernel.c \
	hv/guest/multiboot_load.c \
	hv/guest/multiboot_place.c \
	hv/guest/multiboot_symbols.c \
	hv/guest/pack.c \
	hv/lib/printf.c \
	hv/lib/string_copy.c \
	hv/lib/words.c

UNIT_CFLAGS := -std=c17 -g -O1 -Wall -Wextra -Werror -Wconversion -MMD -MP \
	-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
	-Ihv -I. -Itests/unit
# cmocka's assert_ptr_equal and friends cast in ways that -Wconversion dislikes
UNIT_TEST_CFLAGS := $(UNIT_CFLAGS) -Wno-conversion -D_DEFAULT_SOURCE

# hv/lib/string.c has the names of libc's functions: it is tested under other ones
UNIT_STRING_PREFIX := vellum_
UNIT_STRING_CFLAGS := -std=c17 -g -O2 -Wall -Wextra -Werror -ffreestanding -fno-builtin \
	-fno-tree-loop-distribute-patterns -MMD -MP -Ihv

UNIT_TESTS := $(patsubst tests/unit/%.c,$(UNIT)/%,$(sort $(wildcard tests/unit/test_*.c)))
UNIT_RUNS := $(UNIT_TESTS:%=%.run)

.PHONY: test-unit $(UNIT_RUNS)
.SECONDARY:

test-unit: $(UNIT_RUNS)

# One line for each program that passes, everything for one that doesn't
$(UNIT_RUNS): %.run: %
	@if $< >$<.log 2>&1; then \
		echo "unit $(notdir $<): $$(grep -c '\[       OK \]' $<.log) tests pass"; \
	else \
		cat $<.log; echo "unit $(notdir $<): FAILED"; exit 1; \
	fi

$(UNIT)/libpure.a: $(PURE_SOURCES:%.c=$(UNIT)/%.o)
	@rm -f $@
	@$(AR) rcs $@ $^

# What the test programs share
UNIT_SUPPORT := $(UNIT)/tests/unit/support.o $(UNIT)/tests/unit/bzimage.o \
	$(UNIT)/tests/unit/multiboot_file.o

$(UNIT)/test_%: $(UNIT)/tests/unit/test_%.o $(UNIT_SUPPORT) $(UNIT)/libpure.a \
		$(UNIT)/prefixed_string.o
	@$(HOSTCC) $(UNIT_CFLAGS) -o $@ $^ -lcmocka

$(UNIT)/prefixed_string.o: hv/lib/string.c
	@mkdir -p $(@D)
	@$(HOSTCC) $(UNIT_STRING_CFLAGS) -c -o $@ $<
	@objcopy --prefix-symbols=$(UNIT_STRING_PREFIX) $@

$(UNIT)/tests/unit/%.o: tests/unit/%.c
	@mkdir -p $(@D)
	@$(HOSTCC) $(UNIT_TEST_CFLAGS) $(UNIT_CFLAGS_$*) -c -o $@ $<

$(UNIT)/%.o: %.c
	@mkdir -p $(@D)
	@$(HOSTCC) $(UNIT_CFLAGS) -c -o $@ $<

-include $(shell find $(UNIT) -name '*.d' 2>/dev/null)
