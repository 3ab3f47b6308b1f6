/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Extended page tables: SDM volume 3C, 29.3. The MTRRs do not apply to what a guest
 * accesses through EPT, so the entries carry the types that the MTRRs give; the
 * guest's PAT combines with them as it does with MTRRs (29.3.7.2).
 */
#include "core/cpu.h"
#include "lib/printf.h"
#include "lib/string.h"
#include "mm/mmu.h"
#include "vmx/vmx.h"

#define EPT_ALL_RIGHTS	   (BIT(0) | BIT(1) | BIT(2)) /* read, write, execute */
#define EPT_TYPE_SHIFT	   3
#define EPT_POINTER_WB	   6
#define EPT_POINTER_LEVELS (3 << 3) /* of the walk, less one */
#define INVEPT_ALL	   2

static uint64_t entry_flags(enum memory_type type)
{
	return EPT_ALL_RIGHTS | (uint64_t)type << EPT_TYPE_SHIFT;
}

static uint64_t largest_page(void)
{
	uint64_t capabilities = vmx_ept_capabilities();

	if (capabilities & EPT_CAP_1G)
		return 1 * GIB;
	return capabilities & EPT_CAP_2M ? 2 * MIB : PAGE_SIZE;
}

/* Cached translations of any EPT: of what ran here before Vellum, or of changed entries. */
void vmx_flush(void)
{
	struct {
		uint64_t pointer, reserved;
	} descriptor = {0, 0};
	uint64_t capabilities = vmx_ept_capabilities();

	if ((capabilities & EPT_CAP_INVEPT) && (capabilities & EPT_CAP_INVEPT_ALL))
		asm volatile("invept %0, %1" ::"m"(descriptor), "r"((uint64_t)INVEPT_ALL)
			     : "cc", "memory");
}

int vmx_memory_init(void)
{
	const struct mmu_format format = {entry_flags, EPT_ALL_RIGHTS, largest_page()};

	return mmu_init(&format);
}

void vmx_memory_types_changed(void)
{
	mmu_follow_memory_types();
	vmx_flush();
}

uint64_t vmx_ept_pointer(void)
{
	return mmu_nested_root().raw | EPT_POINTER_WB | EPT_POINTER_LEVELS;
}

const char *vmx_nested_rights(uint64_t entry, char text[VENDOR_RIGHTS_SIZE])
{
	static const char *const types[8] = {"UC", "WC", "?", "?", "WT", "WP", "WB", "?"};

	text_format(text, VENDOR_RIGHTS_SIZE, "%s%s%s", entry & BIT(0) ? "read" : "",
		    entry & BIT(1) ? " write" : "", entry & BIT(2) ? " execute" : "");
	if (entry & PAGE_LARGE)
		text_format(text + strlen(text), VENDOR_RIGHTS_SIZE - strlen(text), " %s",
			    types[entry >> EPT_TYPE_SHIFT & 7]);
	return text;
}

bool vmx_map_more(struct vcpu *vcpu, gpa_t address)
{
	bool flush;
	bool mapped = mmu_map_more(address, &flush);

	(void)vcpu;
	if (flush)
		vmx_flush();
	return mapped;
}
