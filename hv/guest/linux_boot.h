/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The Linux/x86 boot protocol's structures, of which Linux's
 * Documentation/x86/boot.rst and zero-page.rst are the source. Offsets in comments
 * are those of the kernel image, which struct boot_params repeats.
 */
#ifndef VELLUM_GUEST_LINUX_BOOT_H
#define VELLUM_GUEST_LINUX_BOOT_H

#include "guest/e820.h"
#include "lib/types.h"

#define LINUX_SECTOR_SIZE	  512
#define LINUX_DEFAULT_SETUP_SECTS 4	      /* what setup_sects = 0 means */
#define LINUX_BOOT_FLAG		  0xaa55      /* boot_flag */
#define LINUX_HEADER_MAGIC	  0x53726448u /* header: "HdrS" */
#define LINUX_PARAGRAPH_SIZE	  16	      /* unit of syssize */
#define LINUX_HEADER_JUMP_END	  0x202	      /* the header's end counts from here, in jump */

#define LINUX_PROTOCOL(major, minor) ((uint16_t)((major) << 8 | (minor)))

#define LINUX_LOADED_HIGH     0x01 /* loadflags: the 32-bit part belongs at 1 MiB */
#define LINUX_LOADER_UNKNOWN  0xff /* type_of_loader: one without an assigned number */
#define LINUX_VIDEO_MODE_ASIS 0xffff
#define LINUX_XLF_64BIT	      0x01 /* xloadflags: the kernel is 64-bit code */
#define LINUX_HIGH_ADDRESS    MIB  /* where a kernel that can't be relocated is loaded */

/* From 2.03 on initrd_addr_max says it, before 2.06 nothing says the other */
#define LINUX_OLD_INITRD_MAX	   0x37ffffffu
#define LINUX_OLD_COMMAND_LINE_MAX 255 /* characters without the NUL */

/* Selectors that the 32-bit entry wants */
#define LINUX_BOOT_CS 0x10
#define LINUX_BOOT_DS 0x18

struct linux_setup_header {
	uint8_t setup_sects; /* 0x1f1 */
	uint16_t root_flags;
	uint32_t syssize; /* 0x1f4: 32-bit part in paragraphs; 4 bytes since 2.04 */
	uint16_t ram_size;
	uint16_t vid_mode;
	uint16_t root_dev;
	uint16_t boot_flag; /* 0x1fe */
	uint8_t jump[2];    /* 0x200: a short jump behind the header */
	uint32_t header;    /* 0x202 */
	uint16_t version;   /* 0x206 */
	uint32_t realmode_swtch;
	uint16_t start_sys_seg;
	uint16_t kernel_version;
	uint8_t type_of_loader; /* 0x210 */
	uint8_t loadflags;
	uint16_t setup_move_size;
	uint32_t code32_start;
	uint32_t ramdisk_image; /* 0x218 */
	uint32_t ramdisk_size;
	uint32_t bootsect_kludge;
	uint16_t heap_end_ptr;
	uint8_t ext_loader_ver;
	uint8_t ext_loader_type;
	uint32_t cmd_line_ptr;	    /* 0x228 */
	uint32_t initrd_addr_max;   /* 0x22c: the last byte's address; since 2.03 */
	uint32_t kernel_alignment;  /* 0x230: since 2.05 */
	uint8_t relocatable_kernel; /* 0x234: since 2.05 */
	uint8_t min_alignment;	    /* since 2.10 */
	uint16_t xloadflags;	    /* since 2.12 */
	uint32_t cmdline_size;	    /* 0x238: without the NUL; since 2.06 */
	uint32_t hardware_subarch;  /* since 2.07 */
	uint64_t hardware_subarch_data;
	uint32_t payload_offset; /* since 2.08 */
	uint32_t payload_length;
	uint64_t setup_data;	     /* 0x250: since 2.09 */
	uint64_t pref_address;	     /* 0x258: since 2.10 */
	uint32_t init_size;	     /* 0x260: since 2.10 */
	uint32_t handover_offset;    /* since 2.11 */
	uint32_t kernel_info_offset; /* since 2.15 */
	uint8_t later[36];	     /* 0x26c: room that boot_params has for newer protocols */
} __attribute__((packed));

#define LINUX_HEADER_OFFSET 0x1f1 /* in the image, and in boot_params */
#define LINUX_HEADER_LIMIT  0x290 /* where boot_params goes on with something else */

#define LINUX_HEADER_AT(field) (LINUX_HEADER_OFFSET + offsetof(struct linux_setup_header, field))

_Static_assert(LINUX_HEADER_AT(header) == 0x202, "setup header");
_Static_assert(LINUX_HEADER_AT(type_of_loader) == 0x210, "setup header");
_Static_assert(LINUX_HEADER_AT(cmd_line_ptr) == 0x228, "setup header");
_Static_assert(LINUX_HEADER_AT(cmdline_size) == 0x238, "setup header");
_Static_assert(LINUX_HEADER_AT(pref_address) == 0x258, "setup header");
_Static_assert(LINUX_HEADER_AT(later) == 0x26c, "setup header");
_Static_assert(LINUX_HEADER_OFFSET + sizeof(struct linux_setup_header) == LINUX_HEADER_LIMIT,
	       "setup header");

/* screen_info.orig_video_isVGA */
#define LINUX_VIDEO_VGA	 0x01 /* VGA in text mode */
#define LINUX_VIDEO_VLFB 0x23 /* linear framebuffer that VESA set up */
#define LINUX_VIDEO_EFI	 0x70 /* the same by UEFI */

#define LINUX_VIDEO_64BIT_BASE BIT(1) /* screen_info.capabilities: ext_lfb_base counts */
#define LINUX_LFB_SIZE_UNIT    (64 * KIB)

/* include/uapi/linux/screen_info.h */
struct linux_screen_info {
	uint8_t orig_x; /* cursor */
	uint8_t orig_y;
	uint16_t ext_mem_k; /* KiB above 1 MiB, at most 63 MiB: BIOS INT 15h AH=88h */
	uint16_t orig_video_page;
	uint8_t orig_video_mode;
	uint8_t orig_video_cols;
	uint8_t flags;
	uint8_t unused2;
	uint16_t orig_video_ega_bx; /* BX of BIOS INT 10h AH=12h BL=10h */
	uint16_t unused3;
	uint8_t orig_video_lines;
	uint8_t orig_video_is_vga;
	uint16_t orig_video_points; /* a character's height */
	uint16_t lfb_width;	    /* 0x12 */
	uint16_t lfb_height;
	uint16_t lfb_depth;
	uint32_t lfb_base;
	uint32_t lfb_size; /* in LINUX_LFB_SIZE_UNIT */
	uint16_t cl_magic, cl_offset;
	uint16_t lfb_linelength; /* 0x24: bytes */
	uint8_t red_size, red_pos;
	uint8_t green_size, green_pos;
	uint8_t blue_size, blue_pos;
	uint8_t rsvd_size, rsvd_pos;
	uint16_t vesapm_seg, vesapm_off;
	uint16_t pages;
	uint16_t vesa_attributes;
	uint32_t capabilities; /* 0x36 */
	uint32_t ext_lfb_base; /* bits 63-32 of the base */
	uint8_t reserved[2];
} __attribute__((packed));

_Static_assert(offsetof(struct linux_screen_info, lfb_width) == 0x12, "screen_info");
_Static_assert(offsetof(struct linux_screen_info, lfb_linelength) == 0x24, "screen_info");
_Static_assert(offsetof(struct linux_screen_info, capabilities) == 0x36, "screen_info");
_Static_assert(sizeof(struct linux_screen_info) == 0x40, "screen_info");

#define LINUX_EFI64_SIGNATURE 0x34364c45u /* "EL64" */

struct linux_efi_info {
	uint32_t loader_signature;
	uint32_t system_table;
	uint32_t memory_descriptor_size;
	uint32_t memory_descriptor_version;
	uint32_t memory_map;
	uint32_t memory_map_size;
	uint32_t system_table_high;
	uint32_t memory_map_high;
};

/* The "zero page": arch/x86/include/uapi/asm/bootparam.h, as far as Vellum fills it */
struct linux_boot_params {
	struct linux_screen_info screen_info;
	uint8_t unused1[0x30];
	uint64_t acpi_rsdp_addr; /* 0x070: 0 lets Linux search; since 2.14 */
	uint8_t unused2[0x48];
	uint32_t ext_ramdisk_image; /* 0x0c0: bits 63-32 of the header's field */
	uint32_t ext_ramdisk_size;
	uint32_t ext_cmd_line_ptr;
	uint8_t unused3[0xf4];
	struct linux_efi_info efi_info; /* 0x1c0 */
	uint32_t alt_mem_k;		/* 0x1e0: KiB above 1 MiB: BIOS INT 15h AX=E801h */
	uint32_t scratch;
	uint8_t e820_entries; /* 0x1e8 */
	uint8_t unused4[8];   /* holds the sentinel, which a loader that clears leaves 0 */
	struct linux_setup_header header;
	uint8_t unused5[0x40];
	struct e820_entry e820_table[E820_MAX_ENTRIES]; /* 0x2d0 */
	uint8_t unused6[0x330];
} __attribute__((packed));

_Static_assert(offsetof(struct linux_boot_params, acpi_rsdp_addr) == 0x070, "boot_params");
_Static_assert(offsetof(struct linux_boot_params, ext_ramdisk_image) == 0x0c0, "boot_params");
_Static_assert(offsetof(struct linux_boot_params, efi_info) == 0x1c0, "boot_params");
_Static_assert(offsetof(struct linux_boot_params, alt_mem_k) == 0x1e0, "boot_params");
_Static_assert(offsetof(struct linux_boot_params, e820_entries) == 0x1e8, "boot_params");
_Static_assert(offsetof(struct linux_boot_params, header) == LINUX_HEADER_OFFSET, "boot_params");
_Static_assert(offsetof(struct linux_boot_params, e820_table) == 0x2d0, "boot_params");
_Static_assert(sizeof(struct linux_boot_params) == PAGE_SIZE, "boot_params");

#endif
