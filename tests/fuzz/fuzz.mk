# SPDX-License-Identifier: GPL-2.0-only
#
# libFuzzer's programs, under ASan and UBSan. By hand: no other target runs them, and they
# want clang, which make setup does not install. Included by the top Makefile.

CLANG ?= clang
FUZZ  := $(BUILD)/fuzz

FUZZ_CFLAGS := -std=c17 -g -O1 -fasm -Wall -Wextra -Werror -Ihv -I. \
	-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

FUZZ_GDB_SOURCES := tests/fuzz/gdb.c $(addprefix hv/, debug/breakpoints.c debug/gdb_command.c \
	debug/gdb_packet.c debug/gdb_registers.c mm/guest_memory.c lib/printf.c)

FUZZ_SECONDS ?= 600

.PHONY: fuzz
fuzz: $(FUZZ)/gdb
	@mkdir -p $(FUZZ)/gdb.corpus
	$(FUZZ)/gdb -max_len=1024 -dict=tests/fuzz/gdb.dict -max_total_time=$(FUZZ_SECONDS) \
		-artifact_prefix=$(FUZZ)/ $(FUZZ)/gdb.corpus

$(FUZZ)/gdb: $(FUZZ_GDB_SOURCES) $(wildcard hv/debug/*.h hv/mm/*.h hv/core/*.h)
	@mkdir -p $(@D)
	$(QUIET_CC)$(CLANG) $(FUZZ_CFLAGS) -o $@ $(FUZZ_GDB_SOURCES)
