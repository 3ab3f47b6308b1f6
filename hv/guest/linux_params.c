// SPDX-License-Identifier: GPL-2.0-only
#include "guest/linux_params.h"

#include "debug/console.h"
#include "guest/efi_map.h"
#include "guest/guest_image.h"
#include "lib/string.h"

/* A PC in text mode 3 */
#define TEXT_MODE    3
#define TEXT_COLUMNS 80
#define TEXT_LINES   25
#define TEXT_POINTS  16
#define TEXT_EGA_BX  3 /* colour, 256 KiB */

#define EXT_MEM_MAX_KIB 0xfc00 /* INT 15h AH=88h sees 63 MiB at most */

static void write_gdt(struct linux_low *low)
{
	low->gdt[LINUX_BOOT_CS / sizeof(uint64_t)] = GDT_FLAT_CODE;
	low->gdt[LINUX_BOOT_DS / sizeof(uint64_t)] = GDT_FLAT_DATA;
}

static bool ends_word(const char *text, size_t length)
{
	return text[length] == '\0' || text[length] == ' ' || text[length] == '\t';
}

/* A word cut in half could mean something else: root=/dev/sda1 for root=/dev/sda12. */
static size_t cut_to_words(const char *text, size_t limit)
{
	while (limit > 0 && !ends_word(text, limit))
		limit--;
	return limit;
}

static void write_command_line(struct linux_low *low, const struct linux_image *image,
			       const char *text)
{
	size_t length = strlen(text);
	size_t limit = min_u64(image->command_line_max, sizeof(low->command_line) - 1);
	size_t kept = length;

	if (length > limit) {
		kept = cut_to_words(text, limit);
		pr_warn("kernel \"%.*s\" takes command lines of %zu bytes, this one has %zu; cut "
			"off: %s",
			WORD_ARGS(image->name), limit, length, text + kept);
	}
	memcpy(low->command_line, text, kept);
	low->command_line[kept] = '\0';
}

static void write_header(struct linux_setup_header *header, const struct linux_image *image,
			 const struct linux_layout *layout, uint64_t command_line)
{
	*header = image->header;
	header->type_of_loader = LINUX_LOADER_UNKNOWN;
	header->vid_mode = LINUX_VIDEO_MODE_ASIS;
	header->code32_start = (uint32_t)layout->load.base;
	header->ramdisk_size = (uint32_t)layout->initrd.size;
	header->ramdisk_image = layout->initrd.size ? (uint32_t)layout->initrd.base : 0;
	header->cmd_line_ptr = (uint32_t)command_line;
}

uint64_t linux_low_size(const struct boot_info *boot, const struct e820_map *map)
{
	return sizeof(struct linux_low) + efi_map_write(NULL, &boot->efi, map);
}

static void write_text_mode(struct linux_screen_info *screen)
{
	screen->orig_video_mode = TEXT_MODE;
	screen->orig_video_cols = TEXT_COLUMNS;
	screen->orig_video_lines = TEXT_LINES;
	screen->orig_video_points = TEXT_POINTS;
	screen->orig_video_ega_bx = TEXT_EGA_BX;
	screen->orig_video_is_vga = LINUX_VIDEO_VGA;
}

static void write_colours(struct linux_screen_info *screen, const struct boot_framebuffer *fb)
{
	unsigned int used = (unsigned int)fb->red_size + fb->green_size + fb->blue_size;

	screen->red_size = fb->red_size;
	screen->red_pos = fb->red_position;
	screen->green_size = fb->green_size;
	screen->green_pos = fb->green_position;
	screen->blue_size = fb->blue_size;
	screen->blue_pos = fb->blue_position;
	if (used < fb->bits_per_pixel) { /* the rest is above the colours in every known mode */
		screen->rsvd_size = (uint8_t)(fb->bits_per_pixel - used);
		screen->rsvd_pos = (uint8_t)used;
	}
}

/* Linux knows two kinds: as a VESA BIOS sets it, and as UEFI does, whose size is in bytes. */
static void write_framebuffer(struct linux_screen_info *screen, const struct boot_framebuffer *fb,
			      bool is_efi)
{
	uint64_t size = (uint64_t)fb->pitch * fb->height;

	screen->orig_video_is_vga = is_efi ? LINUX_VIDEO_EFI : LINUX_VIDEO_VLFB;
	screen->lfb_width = (uint16_t)fb->width;
	screen->lfb_height = (uint16_t)fb->height;
	screen->lfb_depth = fb->bits_per_pixel;
	screen->lfb_linelength = (uint16_t)fb->pitch;
	screen->lfb_base = (uint32_t)fb->address;
	screen->ext_lfb_base = (uint32_t)(fb->address >> 32);
	screen->capabilities = screen->ext_lfb_base ? LINUX_VIDEO_64BIT_BASE : 0;
	screen->lfb_size =
		(uint32_t)(is_efi ? size
				  : align_up(size, LINUX_LFB_SIZE_UNIT) / LINUX_LFB_SIZE_UNIT);
	screen->pages = 1;
	write_colours(screen, fb);
}

static void write_memory(struct linux_boot_params *params, const struct e820_map *map)
{
	uint64_t extended = e820_ram_from(map, MIB) / KIB;

	params->e820_entries = (uint8_t)map->count;
	memcpy(params->e820_table, map->entry, map->count * sizeof(map->entry[0]));
	params->alt_mem_k = (uint32_t)min_u64(extended, UINT32_MAX);
	params->screen_info.ext_mem_k = (uint16_t)min_u64(extended, EXT_MEM_MAX_KIB);
}

/* A machine with UEFI and no framebuffer has no screen that a kernel could write to. */
static void write_screen(struct linux_screen_info *screen, const struct boot_info *boot)
{
	if (boot->framebuffer.width > 0)
		write_framebuffer(screen, &boot->framebuffer, boot->efi.map_size > 0);
	else if (!boot->efi.is_there)
		write_text_mode(screen);
}

/* As Linux's loaders on UEFI do it. A 32-bit kernel takes the tables, and no runtime services. */
static void write_efi(struct linux_low *low, uint64_t map_at, const struct boot_efi *efi,
		      const struct e820_map *map)
{
	if (efi->map_size == 0)
		return;
	low->params.efi_info = (struct linux_efi_info){
		.loader_signature = LINUX_EFI64_SIGNATURE,
		.system_table = (uint32_t)efi->system_table,
		.system_table_high = (uint32_t)(efi->system_table >> 32),
		.memory_descriptor_size = efi->map_stride,
		.memory_descriptor_version = efi->map_version,
		.memory_map = (uint32_t)map_at,
		.memory_map_size = (uint32_t)efi_map_write(low->efi_map, efi, map),
	};
}

void linux_write_low(struct linux_low *low, const struct linux_image *image,
		     const struct linux_layout *layout, const struct boot_info *boot,
		     const struct e820_map *map, const char *command_line, hpa_t rsdp)
{
	uint64_t text = layout->low + offsetof(struct linux_low, command_line);

	memset(low, 0, sizeof(*low));
	write_screen(&low->params.screen_info, boot);
	write_memory(&low->params, map);
	write_header(&low->params.header, image, layout, text);
	write_command_line(low, image, command_line);
	write_gdt(low);
	write_efi(low, layout->low + offsetof(struct linux_low, efi_map), &boot->efi, map);
	low->params.acpi_rsdp_addr = rsdp.raw;
}
