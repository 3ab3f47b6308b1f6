# SPDX-License-Identifier: GPL-2.0-only
# The VMI option ROM: assembled flat, then sealed with its checksums.

$(BUILD)/vmirom.bin: $(wildcard vmirom/*.asm vmirom/*.inc) vmirom/seal.py vmirom/vmirom.mk
	@mkdir -p $(@D)
	$(QUIET_AS)$(NASM) -f bin -I vmirom/ -o $(BUILD)/vmirom.assembled vmirom/rom.asm
	@$(PYTHON) vmirom/seal.py $(BUILD)/vmirom.assembled $@
