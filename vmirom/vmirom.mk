# SPDX-License-Identifier: GPL-2.0-only
# The VMI option ROM: assembled flat, then sealed with its checksums.

VMIROM := $(BUILD)/vmirom.bin

$(VMIROM): $(wildcard vmirom/*.asm vmirom/*.inc) vmirom/seal.py vmirom/vmirom.mk
	@mkdir -p $(@D)
	$(NASM) -f bin -I vmirom/ -o $(BUILD)/vmirom.assembled vmirom/rom.asm
	python3 vmirom/seal.py $(BUILD)/vmirom.assembled $@
