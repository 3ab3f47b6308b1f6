// SPDX-License-Identifier: GPL-2.0-only
#include "guest/linux_image.h"

#include "debug/console.h"
#include "guest/module.h"
#include "lib/errno.h"
#include "lib/string.h"

/* Up to 2.09 init_size is unknown; GRUB reserves this many times the compressed size */
#define RUN_SIZE_FACTOR 3

/* PE and ELF fields that tell the machine */
#define ELF_CLASS_OFFSET     4
#define ELF_CLASS_64	     2
#define PE_HEADER_AT	     0x3c /* holds the offset of "PE\0\0" */
#define PE_MACHINE_OFFSET    4
#define EFI_ZBOOT_TAG_OFFSET 4 /* "zimg" */

/* A file that people take for a kernel that Vellum can start, by its first bytes. */
struct foreign_format {
	const char *magic;
	size_t length;
	const char *what;
};

static const struct foreign_format foreign_formats[] = {
	{"\x1f\x8b", 2, "a gzip file (an initrd?)"},
	{"\xfd"
	 "7zXZ",
	 5, "an xz file (an initrd?)"},
	{"\x28\xb5\x2f\xfd", 4, "a zstd file (an initrd?)"},
	{"\x02\x21\x4c\x18", 4, "an lz4 file (an initrd?)"},
	{"\x5d\0\0", 3, "an lzma file (an initrd?)"},
	{"BZh", 3, "a bzip2 file (an initrd?)"},
	{"07070", 5, "a cpio archive (an initrd?)"},
};

static bool has_magic(const struct boot_module *module, uint64_t offset, const char *magic,
		      size_t length)
{
	char found[8];

	return module_read(module, offset, found, length) && memcmp(found, magic, length) == 0;
}

static void explain_elf(const struct boot_module *module, struct word name)
{
	uint8_t class = 0;

	module_read(module, ELF_CLASS_OFFSET, &class, sizeof(class));
	pr_error("kernel \"%.*s\" is a %d-bit ELF file (class %u), such as vmlinux, without a "
		 "Multiboot header; a bzImage is needed: arch/x86/boot/bzImage of the same build",
		 WORD_ARGS(name), class == ELF_CLASS_64 ? 64 : 32, class);
}

/* MZ without "HdrS": EFI can start it, the 32-bit boot protocol can't. */
static void explain_efi(const struct boot_module *module, struct word name)
{
	bool zboot = has_magic(module, EFI_ZBOOT_TAG_OFFSET, "zimg", 4);
	uint32_t header = 0;
	uint16_t machine = 0;

	module_read(module, PE_HEADER_AT, &header, sizeof(header));
	module_read(module, (uint64_t)header + PE_MACHINE_OFFSET, &machine, sizeof(machine));
	pr_error("kernel \"%.*s\" is %s for EFI only (PE machine %#x), without the 32-bit entry "
		 "that is needed; give the plain bzImage, not a unified or zboot image",
		 WORD_ARGS(name), zboot ? "a zboot image" : "a program", machine);
}

static const char *describe(const struct boot_module *module)
{
	for (size_t i = 0; i < ARRAY_SIZE(foreign_formats); i++) {
		const struct foreign_format *format = &foreign_formats[i];

		if (has_magic(module, 0, format->magic, format->length))
			return format->what;
	}
	return "not a bzImage";
}

/* The file has no "HdrS": says what it is instead. */
static void explain_foreign(const struct boot_module *module, struct word name)
{
	uint32_t magic = 0;

	module_read(module, LINUX_HEADER_AT(header), &magic, sizeof(magic));
	if (has_magic(module, 0,
		      "\x7f"
		      "ELF",
		      4))
		explain_elf(module, name);
	else if (has_magic(module, 0, "MZ", 2))
		explain_efi(module, name);
	else
		pr_error("kernel \"%.*s\" is %s: %#x at %#x, a bzImage has %#x (\"HdrS\"); give "
			 "the kernel as first module, the initrd as second",
			 WORD_ARGS(name), describe(module), magic,
			 (unsigned int)LINUX_HEADER_AT(header), LINUX_HEADER_MAGIC);
}

/* Where the header ends by its own word; what a newer protocol appends is kept. */
static uint64_t header_end(const struct linux_setup_header *header)
{
	return min_u64(LINUX_HEADER_JUMP_END + (uint64_t)header->jump[1], LINUX_HEADER_LIMIT);
}

/* Copies as much of the header as the file has, then as much as the header claims. */
static void read_header(const struct boot_module *module, struct linux_setup_header *header)
{
	uint64_t end = min_u64(module->size, LINUX_HEADER_LIMIT);
	uint64_t size = end - min_u64(end, LINUX_HEADER_OFFSET);
	uint64_t claimed;

	memset(header, 0, sizeof(*header));
	module_read(module, LINUX_HEADER_OFFSET, header, size);
	claimed = header_end(header) - LINUX_HEADER_OFFSET;
	if (header->header == LINUX_HEADER_MAGIC && claimed < size)
		memset((uint8_t *)header + claimed, 0, size - claimed);
}

static int check_magic(const struct boot_module *module, const struct linux_image *image)
{
	const struct linux_setup_header *header = &image->header;

	if (header->header != LINUX_HEADER_MAGIC) {
		explain_foreign(module, image->name);
		return -ENOEXEC;
	}
	if (header->boot_flag != LINUX_BOOT_FLAG) {
		pr_error("kernel \"%.*s\" is damaged: boot flag %#x, %#x needed",
			 WORD_ARGS(image->name), header->boot_flag, LINUX_BOOT_FLAG);
		return -ENOEXEC;
	}
	return 0;
}

static int check_protocol(const struct linux_image *image)
{
	const struct linux_setup_header *header = &image->header;

	if (header->version < LINUX_OLDEST_PROTOCOL) {
		pr_error("kernel \"%.*s\" has boot protocol %u.%02u, at least %u.%02u needed; "
			 "use Linux 2.6.14 or later",
			 WORD_ARGS(image->name), header->version >> 8, header->version & 0xff,
			 LINUX_OLDEST_PROTOCOL >> 8, LINUX_OLDEST_PROTOCOL & 0xff);
		return -ENOEXEC;
	}
	if (!(header->loadflags & LINUX_LOADED_HIGH)) {
		pr_error(
			"kernel \"%.*s\" is a zImage: loadflags %#x, bit 0 needed; build a bzImage",
			WORD_ARGS(image->name), header->loadflags);
		return -ENOEXEC;
	}
	return 0;
}

static bool has_protocol(const struct linux_image *image, uint16_t version)
{
	return image->header.version >= version;
}

static bool is_power_of_two(uint32_t value)
{
	return value != 0 && (value & (value - 1)) == 0;
}

static int check_fields(const struct linux_image *image)
{
	const struct linux_setup_header *header = &image->header;
	uint32_t alignment = header->kernel_alignment;
	uint64_t end_needed = LINUX_HEADER_AT(kernel_alignment); /* all of 2.04 */

	if (header_end(header) < end_needed) {
		pr_error("kernel \"%.*s\" is damaged: its header ends at %#x, at least %#x needed",
			 WORD_ARGS(image->name), (unsigned int)header_end(header),
			 (unsigned int)end_needed);
		return -ENOEXEC;
	}
	if (image->relocatable && !is_power_of_two(alignment)) {
		pr_error("kernel \"%.*s\" is damaged: alignment %#x, a power of two needed",
			 WORD_ARGS(image->name), alignment);
		return -ENOEXEC;
	}
	return 0;
}

/* Splits the file into setup and 32-bit part, and finds out if the end is missing. */
static int find_kernel(const struct boot_module *module, struct linux_image *image)
{
	const struct linux_setup_header *header = &image->header;
	uint64_t sectors = header->setup_sects ? header->setup_sects : LINUX_DEFAULT_SETUP_SECTS;
	uint64_t setup_size = (sectors + 1) * LINUX_SECTOR_SIZE;
	uint64_t paragraphs = max_u64(header->syssize, 1);
	/* Before Linux 2.6.26 the last paragraph wasn't filled up */
	uint64_t needed = setup_size + (paragraphs - 1) * LINUX_PARAGRAPH_SIZE + 1;

	if (module->size < needed) {
		pr_error("kernel \"%.*s\" is truncated: %llu bytes, its header says at least %llu; "
			 "copy or download it again",
			 WORD_ARGS(image->name), (unsigned long long)module->size,
			 (unsigned long long)needed);
		return -ENOEXEC;
	}
	image->kernel = hpa(module->start.raw + setup_size);
	image->kernel_size = module->size - setup_size;
	return 0;
}

static void read_run_range(struct linux_image *image)
{
	const struct linux_setup_header *header = &image->header;

	image->alignment = image->relocatable ? header->kernel_alignment : 1;
	image->preferred = LINUX_HIGH_ADDRESS;
	image->run_size = image->kernel_size * RUN_SIZE_FACTOR;
	if (has_protocol(image, LINUX_PROTOCOL(2, 10)) && header->init_size != 0) {
		image->preferred = max_u64(header->pref_address, LINUX_HIGH_ADDRESS);
		image->run_size = max_u64(header->init_size, image->kernel_size);
		image->run_size_known = true;
	}
	image->run_size = align_up(image->run_size, PAGE_SIZE);
}

static void read_limits(struct linux_image *image)
{
	const struct linux_setup_header *header = &image->header;
	uint32_t initrd_max =
		header->initrd_addr_max ? header->initrd_addr_max : LINUX_OLD_INITRD_MAX;

	image->initrd_limit = (uint64_t)initrd_max + 1;
	image->command_line_max = LINUX_OLD_COMMAND_LINE_MAX;
	if (has_protocol(image, LINUX_PROTOCOL(2, 6)) && header->cmdline_size != 0)
		image->command_line_max = header->cmdline_size;
}

int linux_image_read(const struct boot_module *module, struct word name, struct linux_image *image)
{
	int error;

	memset(image, 0, sizeof(*image));
	image->name = name;
	read_header(module, &image->header);
	image->relocatable =
		has_protocol(image, LINUX_PROTOCOL(2, 5)) && image->header.relocatable_kernel != 0;
	error = check_magic(module, image);
	if (!error)
		error = check_protocol(image);
	if (!error)
		error = check_fields(image);
	if (!error)
		error = find_kernel(module, image);
	if (error)
		return error;
	read_run_range(image);
	read_limits(image);
	return 0;
}
