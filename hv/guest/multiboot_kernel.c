// SPDX-License-Identifier: GPL-2.0-only
#include "guest/multiboot_kernel.h"

#include "debug/console.h"
#include "guest/module.h"
#include "guest/multiboot_header.h"
#include "boot/multiboot2_format.h"
#include "lib/errno.h"
#include "lib/string.h"

/* The address fields, which both versions have: where in memory the file goes as it is. */
struct addresses {
	uint32_t header, load, load_end, bss_end;
};

/* Entry and relocation as version 2's tags ask for them. */
struct wishes {
	bool has_addresses, has_entry;
	struct addresses addresses;
	uint32_t entry;
};

/* Information that Vellum can give, or could if the machine had it: types of its tags. */
#define KNOWN_INFORMATION                                                                          \
	(BIT(MULTIBOOT2_TAG_END) | BIT(MULTIBOOT2_TAG_CMDLINE) | BIT(MULTIBOOT2_TAG_LOADER_NAME) | \
	 BIT(MULTIBOOT2_TAG_MODULE) | BIT(MULTIBOOT2_TAG_MEMORY) | BIT(MULTIBOOT2_TAG_MMAP) |      \
	 BIT(MULTIBOOT2_TAG_FRAMEBUFFER) | BIT(MULTIBOOT2_TAG_SECTIONS) |                          \
	 BIT(MULTIBOOT2_TAG_RSDP_OLD) | BIT(MULTIBOOT2_TAG_RSDP_NEW) |                             \
	 BIT(MULTIBOOT2_TAG_LOAD_BASE))

#define WITHOUT_IT "; build it without, or start it by its own boot loader"

static int damaged(struct word name, const char *what, uint64_t found)
{
	pr_error("kernel \"%.*s\" is damaged: %s (%#llx)", WORD_ARGS(name), what,
		 (unsigned long long)found);
	return -ENOEXEC;
}

/* ---- where the header is ---- */

static bool find_header1(const struct boot_module *module, struct multiboot1_header *header,
			 uint64_t *at)
{
	const size_t fixed = offsetof(struct multiboot1_header, header_addr);

	memset(header, 0, sizeof(*header));
	for (*at = 0; *at + fixed <= MULTIBOOT1_SEARCH; *at += MULTIBOOT1_ALIGN) {
		if (!module_read(module, *at, header, fixed))
			return false;
		if (header->magic == MULTIBOOT1_MAGIC &&
		    header->magic + header->flags + header->checksum == 0)
			return true;
	}
	return false;
}

static bool find_header2(const struct boot_module *module, struct multiboot2_header *header,
			 uint64_t *at)
{
	for (*at = 0; *at + sizeof(*header) <= MULTIBOOT2_SEARCH; *at += MULTIBOOT2_ALIGN) {
		if (!module_read(module, *at, header, sizeof(*header)))
			return false;
		if (header->magic == MULTIBOOT2_MAGIC &&
		    header->magic + header->architecture + header->length + header->checksum == 0)
			return true;
	}
	return false;
}

bool multiboot_kernel_found(const struct boot_module *module, unsigned int version)
{
	struct multiboot1_header header1;
	struct multiboot2_header header2;
	uint64_t at;

	return version == 1 ? find_header1(module, &header1, &at)
			    : find_header2(module, &header2, &at);
}

static int refuse_headerless(struct word name, unsigned int version)
{
	pr_error("kernel \"%.*s\" has no Multiboot %u header with a right checksum in its first %u "
		 "bytes",
		 WORD_ARGS(name), version, version == 1 ? MULTIBOOT1_SEARCH : MULTIBOOT2_SEARCH);
	return -ENOEXEC;
}

/* ---- address fields: the "a.out kludge" ---- */

/* 0 as an end means: that of the file, and no more than what is loaded. */
static int read_addresses(const struct boot_module *module, struct word name,
			  const struct addresses *from, uint64_t header_at, struct elf_image *image)
{
	uint64_t before = (uint64_t)from->header - from->load;
	struct elf_load load = {.base = from->load, .virtual_base = from->load};

	if (from->header < from->load || before > header_at)
		return damaged(name, "its header is not where load_addr and header_addr say",
			       from->header);
	load.offset = header_at - before;
	load.file_size = module->size - load.offset;
	if (from->load_end) {
		if (from->load_end < from->load)
			return damaged(name, "load_end_addr is below load_addr", from->load_end);
		load.file_size = from->load_end - from->load;
	}
	load.size = load.file_size;
	if (from->bss_end) {
		if (from->bss_end < from->load + load.file_size)
			return damaged(name, "bss_end_addr is below the end of what is loaded",
				       from->bss_end);
		load.size = from->bss_end - from->load;
	}
	return elf_image_add(image, &load, module->size, name);
}

static int check_entry(struct word name, const struct elf_image *image)
{
	for (unsigned int i = 0; i < image->load_count; i++)
		if (image->entry - image->load[i].base < image->load[i].size)
			return 0;
	return damaged(name, "its entry is not in what is loaded", image->entry);
}

/* ---- version 1 ---- */

static int check_flags1(struct word name, uint32_t flags)
{
	uint32_t known = MULTIBOOT1_PAGE_ALIGN | MULTIBOOT1_MEMORY_INFO | MULTIBOOT1_VIDEO_MODE;
	uint32_t unknown = flags & MULTIBOOT1_REQUIRED & ~known;

	if (!unknown)
		return 0;
	pr_error("kernel \"%.*s\" asks for what Vellum does not know: Multiboot flags %#x, of "
		 "which %#x" WITHOUT_IT,
		 WORD_ARGS(name), flags, unknown);
	return -ENOEXEC;
}

static int read_version1(const struct boot_module *module, struct multiboot_kernel *kernel)
{
	struct multiboot1_header header;
	uint64_t at;
	int error;

	if (!find_header1(module, &header, &at))
		return refuse_headerless(kernel->name, kernel->version);
	error = check_flags1(kernel->name, header.flags);
	if (error)
		return error;
	if (!(header.flags & MULTIBOOT1_ADDRESSES))
		return elf_image_read(module, kernel->name, &kernel->image);
	if (at + sizeof(header) > MULTIBOOT1_SEARCH ||
	    !module_read(module, at, &header, sizeof(header)))
		return damaged(kernel->name, "its Multiboot header is cut off", at);
	error = read_addresses(module, kernel->name,
			       &(struct addresses){header.header_addr, header.load_addr,
						   header.load_end_addr, header.bss_end_addr},
			       at, &kernel->image);
	kernel->image.entry = header.entry_addr;
	return error ? error : check_entry(kernel->name, &kernel->image);
}

/* ---- version 2 ---- */

static int refuse_tag(const struct multiboot_kernel *kernel, const char *what, uint32_t number)
{
	pr_error("kernel \"%.*s\" asks for what Vellum cannot do: %s (Multiboot 2, %u)" WITHOUT_IT,
		 WORD_ARGS(kernel->name), what, number);
	return -ENOEXEC;
}

/* A list of the information that the kernel can't do without. */
static int check_request(const struct boot_module *module, uint64_t at,
			 const struct multiboot2_header_tag *tag,
			 const struct multiboot_kernel *kernel)
{
	uint32_t type;

	for (uint32_t i = sizeof(*tag); i + sizeof(type) <= tag->size; i += sizeof(type)) {
		module_read(module, at + i, &type, sizeof(type));
		if (type >= 64 || !(KNOWN_INFORMATION & BIT(type)))
			return refuse_tag(kernel, "information of this type", type);
	}
	return 0;
}

static int read_relocatable(const struct boot_module *module, uint64_t at,
			    struct multiboot_kernel *kernel)
{
	struct multiboot2_relocatable_tag tag;

	if (!module_read(module, at, &tag, sizeof(tag)))
		return damaged(kernel->name, "its relocatable tag is cut off", at);
	if (tag.align & (tag.align - 1))
		return damaged(kernel->name, "its alignment is no power of two", tag.align);
	kernel->relocation = (struct multiboot_relocation){
		.allowed = true,
		.highest = tag.preference == MULTIBOOT2_PREFER_HIGHEST,
		.lowest = tag.min_addr,
		.limit = (uint64_t)tag.max_addr + 1,
		.align = max_u64(tag.align, 1),
	};
	return 0;
}

static int read_tag(const struct boot_module *module, uint64_t at,
		    const struct multiboot2_header_tag *tag, struct multiboot_kernel *kernel,
		    struct wishes *wishes)
{
	bool optional = tag->flags & MULTIBOOT2_HEADER_OPTIONAL;
	struct multiboot2_address_tag address;
	struct multiboot2_entry_tag entry;

	switch (tag->type) {
	case MULTIBOOT2_HEADER_REQUEST:
		return optional ? 0 : check_request(module, at, tag, kernel);
	case MULTIBOOT2_HEADER_ADDRESS:
		wishes->has_addresses = module_read(module, at, &address, sizeof(address));
		if (!wishes->has_addresses || tag->size < sizeof(address))
			return damaged(kernel->name, "its address tag is cut off", at);
		wishes->addresses = (struct addresses){address.header_addr, address.load_addr,
						       address.load_end_addr, address.bss_end_addr};
		return 0;
	case MULTIBOOT2_HEADER_ENTRY:
		wishes->has_entry = module_read(module, at, &entry, sizeof(entry));
		if (!wishes->has_entry || tag->size < sizeof(entry))
			return damaged(kernel->name, "its entry tag is cut off", at);
		wishes->entry = entry.entry_addr;
		return 0;
	case MULTIBOOT2_HEADER_RELOCATABLE:
		return read_relocatable(module, at, kernel);
	case MULTIBOOT2_HEADER_CONSOLE:
	case MULTIBOOT2_HEADER_FRAMEBUFFER:
	case MULTIBOOT2_HEADER_MODULE_ALIGN:
	case MULTIBOOT2_HEADER_EFI_ENTRY_32: /* the plain entry serves without EFI */
	case MULTIBOOT2_HEADER_EFI_ENTRY_64:
		return 0;
	case MULTIBOOT2_HEADER_EFI_SERVICES:
		return optional ? 0 : refuse_tag(kernel, "EFI boot services", tag->type);
	default:
		return optional ? 0 : refuse_tag(kernel, "a tag of this type", tag->type);
	}
}

/* The header's end counts, not the file's: the tags are all in it. */
static int read_tags(const struct boot_module *module, uint64_t at, uint64_t end,
		     struct multiboot_kernel *kernel, struct wishes *wishes)
{
	struct multiboot2_header_tag tag;
	int error = 0;

	while (!error) {
		if (at + sizeof(tag) > end || !module_read(module, at, &tag, sizeof(tag)))
			return damaged(kernel->name, "its Multiboot header has no last tag", at);
		if (tag.type == MULTIBOOT2_HEADER_END)
			return 0;
		if (tag.size < sizeof(tag) || tag.size > end - at)
			return damaged(kernel->name, "a tag of its Multiboot header has this size",
				       tag.size);
		error = read_tag(module, at, &tag, kernel, wishes);
		at += align_up(tag.size, MULTIBOOT2_ALIGN);
	}
	return error;
}

static int read_image2(const struct boot_module *module, uint64_t at, const struct wishes *wishes,
		       struct multiboot_kernel *kernel)
{
	int error;

	if (!wishes->has_addresses)
		error = elf_image_read(module, kernel->name, &kernel->image);
	else if (wishes->has_entry)
		error = read_addresses(module, kernel->name, &wishes->addresses, at,
				       &kernel->image);
	else
		return damaged(kernel->name, "it has an address tag, but no entry tag", at);
	if (!error && wishes->has_entry) {
		kernel->image.entry = wishes->entry;
		error = check_entry(kernel->name, &kernel->image);
	}
	return error;
}

static int read_version2(const struct boot_module *module, struct multiboot_kernel *kernel)
{
	struct multiboot2_header header;
	struct wishes wishes = {0};
	uint64_t at;
	int error;

	if (!find_header2(module, &header, &at))
		return refuse_headerless(kernel->name, kernel->version);
	if (header.architecture != MULTIBOOT2_ARCHITECTURE)
		return refuse_tag(kernel, "a processor that is not i386", header.architecture);
	if (header.length > min_u64(module->size, MULTIBOOT2_SEARCH) - at)
		return damaged(kernel->name, "its Multiboot header is cut off", header.length);
	error = read_tags(module, at + sizeof(header), at + header.length, kernel, &wishes);
	return error ? error : read_image2(module, at, &wishes, kernel);
}

int multiboot_kernel_read(const struct boot_module *module, struct word name, unsigned int version,
			  struct multiboot_kernel *kernel)
{
	memset(kernel, 0, sizeof(*kernel));
	kernel->name = name;
	kernel->version = version;
	return version == 1 ? read_version1(module, kernel) : read_version2(module, kernel);
}
