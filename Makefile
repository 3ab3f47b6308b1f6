# SPDX-License-Identifier: GPL-2.0-only
#
# Vellum's one entry: "make help" lists what it does.

VERSION := 0.1

BUILD ?= build
CC := gcc
HOSTCC ?= gcc
LD := ld
NASM ?= nasm
PYTHON ?= /usr/bin/python3

CPU ?= amd
EMU ?= auto
MODE ?= hv
VMI ?= on
PAGING ?= nested
CPUS ?= 1
MEM ?= 1024
ICOUNT ?= 1
KERNEL ?=
INITRD ?=
APPEND ?=
FIRMWARE ?= bios
VELLUM ?=
V ?= 0

ifeq ($(V),0)
QUIET_CC = @echo "  CC   $<";
QUIET_AS = @echo "  AS   $<";
QUIET_LD = @echo "  LD   $@";
endif

.DEFAULT_GOAL := help
.PHONY: help setup all run boot test test-guest test-system clean distclean
.DELETE_ON_ERROR:

help:
	@echo help

all: $(BUILD)/vellum.elf

include hv/hv.mk
include vmirom/vmirom.mk
include tests/unit/unit.mk
include tests/unit/vmirom.mk
include tests/bench/bench.mk

clean:
	rm -rf $(BUILD)
