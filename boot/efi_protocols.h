/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * UEFI's services and protocols that Vellum calls while boot services run: UEFI
 * specification 2.10. What it does not call is a void pointer, to keep the offsets.
 */
#ifndef VELLUM_BOOT_EFI_PROTOCOLS_H
#define VELLUM_BOOT_EFI_PROTOCOLS_H

#include "boot/efi_tables.h"
#include "lib/types.h"

#define EFI_CALL __attribute__((ms_abi)) /* 2.3.4.2 */

typedef uint64_t efi_status_t;

/* Appendix D */
#define EFI_ERROR(code)	       (BIT(63) | (code))
#define EFI_SUCCESS	       0
#define EFI_LOAD_ERROR	       EFI_ERROR(1)
#define EFI_INVALID_PARAMETER  EFI_ERROR(2)
#define EFI_UNSUPPORTED	       EFI_ERROR(3)
#define EFI_BUFFER_TOO_SMALL   EFI_ERROR(5)
#define EFI_DEVICE_ERROR       EFI_ERROR(7)
#define EFI_OUT_OF_RESOURCES   EFI_ERROR(9)
#define EFI_NOT_FOUND	       EFI_ERROR(14)
#define EFI_NO_RESPONSE	       EFI_ERROR(16)
#define EFI_TIMEOUT	       EFI_ERROR(18)
#define EFI_ABORTED	       EFI_ERROR(21)
#define EFI_TFTP_ERROR	       EFI_ERROR(23)
#define EFI_SECURITY_VIOLATION EFI_ERROR(26)

/* 7.2.1 */
enum efi_allocate_type { EFI_ALLOCATE_MAX_ADDRESS = 1 };

/* 4.4 */
struct efi_boot_services {
	struct efi_table_header header;
	void *tpl[2];
	efi_status_t(EFI_CALL *allocate_pages)(int allocate_type, int memory_type, uint64_t pages,
					       uint64_t *address);
	efi_status_t(EFI_CALL *free_pages)(uint64_t address, uint64_t pages);
	efi_status_t(EFI_CALL *get_memory_map)(uint64_t *size, void *map, uint64_t *key,
					       uint64_t *descriptor_size, uint32_t *version);
	efi_status_t(EFI_CALL *allocate_pool)(int memory_type, uint64_t size, void **buffer);
	efi_status_t(EFI_CALL *free_pool)(void *buffer);
	void *events[6];
	void *protocols[3];
	efi_status_t(EFI_CALL *handle_protocol)(void *handle, const struct efi_guid *protocol,
						void *interface);
	void *reserved;
	void *register_protocol_notify;
	void *locate_handle;
	efi_status_t(EFI_CALL *locate_device_path)(const struct efi_guid *protocol,
						   const void **path, void **handle);
	void *install_configuration_table;
	void *images[4];
	efi_status_t(EFI_CALL *exit_boot_services)(void *image, uint64_t key);
	void *get_next_monotonic_count;
	void *stall;
	void *set_watchdog_timer;
	void *controllers[2];
	void *open_protocols[3];
	void *library[2];
	efi_status_t(EFI_CALL *locate_protocol)(const struct efi_guid *protocol, void *registration,
						void *interface);
};

_Static_assert(offsetof(struct efi_boot_services, allocate_pages) == 40, "efi_entry.asm");
_Static_assert(offsetof(struct efi_boot_services, free_pages) == 48, "efi_entry.asm");
_Static_assert(offsetof(struct efi_boot_services, handle_protocol) == 152, "UEFI 2.10, 4.4");
_Static_assert(offsetof(struct efi_boot_services, exit_boot_services) == 232, "UEFI 2.10, 4.4");
_Static_assert(offsetof(struct efi_boot_services, locate_protocol) == 320, "UEFI 2.10, 4.4");

/* 4.5 */
struct efi_runtime_services {
	struct efi_table_header header;
	void *time[4];
	void *virtual_memory[2];
	efi_status_t(EFI_CALL *get_variable)(const uint16_t *name, const struct efi_guid *vendor,
					     uint32_t *attributes, uint64_t *size, void *data);
};

_Static_assert(offsetof(struct efi_runtime_services, get_variable) == 72, "UEFI 2.10, 4.5");

/* 12.4 */
struct efi_simple_text_output {
	void *reset;
	efi_status_t(EFI_CALL *output_string)(struct efi_simple_text_output *this,
					      const uint16_t *text);
};

/* 10.2 */
struct efi_device_path {
	uint8_t type;
	uint8_t sub_type;
	uint8_t length[2];
};

#define EFI_PATH_MEDIA	      4
#define EFI_PATH_MEDIA_VENDOR 3
#define EFI_PATH_MEDIA_FILE   4
#define EFI_PATH_END	      0x7f
#define EFI_PATH_END_ENTIRE   0xff

/* 9.1 */
struct efi_loaded_image {
	uint32_t revision;
	void *parent;
	struct efi_system_table *system;
	void *device;
	const struct efi_device_path *file_path;
	void *reserved;
	uint32_t load_options_size; /* bytes */
	const void *load_options;
	void *image_base;
	uint64_t image_size;
};

/* 13.2 */
struct efi_load_file2 {
	efi_status_t(EFI_CALL *load_file)(struct efi_load_file2 *this,
					  const struct efi_device_path *path, bool boot_policy,
					  uint64_t *size, void *buffer);
};

/* 13.5 */
#define EFI_FILE_MODE_READ 1

struct efi_file {
	uint64_t revision;
	efi_status_t(EFI_CALL *open)(struct efi_file *this, struct efi_file **file,
				     const uint16_t *name, uint64_t mode, uint64_t attributes);
	efi_status_t(EFI_CALL *close)(struct efi_file *this);
	void *delete;
	efi_status_t(EFI_CALL *read)(struct efi_file *this, uint64_t *size, void *buffer);
	void *write;
	void *get_position;
	void *set_position;
	efi_status_t(EFI_CALL *get_info)(struct efi_file *this, const struct efi_guid *type,
					 uint64_t *size, void *buffer);
};

struct efi_file_info {
	uint64_t size;
	uint64_t file_size;
	uint64_t physical_size;
	uint8_t times[3 * 16];
	uint64_t attributes; /* then the name */
};

/* 13.4 */
struct efi_simple_file_system {
	uint64_t revision;
	efi_status_t(EFI_CALL *open_volume)(struct efi_simple_file_system *this,
					    struct efi_file **root);
};

/* 12.9 */
enum efi_pixel_format {
	EFI_PIXEL_RGB = 0,
	EFI_PIXEL_BGR = 1,
	EFI_PIXEL_BIT_MASK = 2,
	EFI_PIXEL_BLT_ONLY = 3,
};

struct efi_graphics_info {
	uint32_t version;
	uint32_t width, height;
	uint32_t pixel_format;
	uint32_t red_mask, green_mask, blue_mask, reserved_mask;
	uint32_t pixels_per_line;
};

struct efi_graphics_mode {
	uint32_t max_mode;
	uint32_t mode;
	const struct efi_graphics_info *info;
	uint64_t info_size;
	uint64_t framebuffer_base;
	uint64_t framebuffer_size;
};

struct efi_graphics_output {
	void *methods[3];
	const struct efi_graphics_mode *mode;
};

/* 24.3 */
enum efi_pxe_operation { EFI_PXE_TFTP_GET_FILE_SIZE = 1, EFI_PXE_TFTP_READ_FILE = 2 };

struct efi_ip_address {
	uint8_t v4[4];
	uint8_t rest_of_v6[12];
} __attribute__((aligned(4)));

/* RFC 2131 and 2132 */
struct efi_pxe_packet {
	uint8_t head[20];
	uint8_t server_address[4];
	uint8_t relay_address[4];
	uint8_t client_hardware_address[16];
	uint8_t server_name[64];
	uint8_t boot_file[128];
	uint8_t magic[4];
	uint8_t options[1232];
} __attribute__((aligned(4)));

struct efi_pxe_mode {
	bool started;
	bool ipv6[2];
	bool using_ipv6;
	bool bis[2];
	bool auto_arp;
	bool send_guid;
	bool dhcp_discover_valid;
	bool dhcp_ack_received;
	bool proxy_offer_received;
	bool pxe_discover_valid;
	bool pxe_reply_received;
	bool more[4];
	uint8_t ttl;
	uint8_t tos;
	struct efi_ip_address station, subnet_mask;
	struct efi_pxe_packet dhcp_discover, dhcp_ack, proxy_offer, pxe_discover, pxe_reply;
};

_Static_assert(sizeof(struct efi_pxe_packet) == 1472, "UEFI 2.10, 24.3.1");
_Static_assert(offsetof(struct efi_pxe_mode, dhcp_discover) == 52, "UEFI 2.10, 24.3.1");

struct efi_pxe_base_code {
	uint64_t revision;
	void *methods[4];
	efi_status_t(EFI_CALL *mtftp)(struct efi_pxe_base_code *this, int operation, void *buffer,
				      bool overwrite, uint64_t *size, const uint64_t *block_size,
				      const struct efi_ip_address *server, const uint8_t *name,
				      const void *info, bool dont_use_buffer);
	void *more_methods[7];
	const struct efi_pxe_mode *mode;
};

_Static_assert(offsetof(struct efi_pxe_base_code, mode) == 104, "UEFI 2.10, 24.3.1");

#endif
