// SPDX-License-Identifier: GPL-2.0-only
#include "boot/efi_pxe.h"

#include "boot/efi_memory.h"
#include "debug/console.h"
#include "lib/errno.h"
#include "lib/string.h"

/* RFC 2132 */
#define OPTION_PAD	 0
#define OPTION_SERVER_ID 54
#define OPTION_BOOT_FILE 67
#define OPTION_END	 255

/* What fits into an Ethernet frame: 1500 bytes less IP's, UDP's and TFTP's headers (RFC 2348) */
#define BLOCK_SIZE 1468

static const struct efi_guid pxe_guid = {
	0x03c4e603, 0xac28, 0x11d3, {0x9a, 0x2d, 0x00, 0x90, 0x27, 0x3f, 0xc1, 0x4d}};

/* The value of an option and its length; NULL if the packet has none. */
static const uint8_t *find_option(const struct efi_pxe_packet *packet, uint8_t code, size_t *length)
{
	const uint8_t *option = packet->options;
	size_t size = sizeof(packet->options), at = 0;

	while (at + 1 < size && option[at] != OPTION_END) {
		if (option[at] == OPTION_PAD) {
			at++;
			continue;
		}
		*length = option[at + 1];
		if (*length > size - at - 2)
			return NULL;
		if (option[at] == code)
			return &option[at + 2];
		at += 2 + *length;
	}
	return NULL;
}

/* The answer that named the boot file: the last one that came. */
static const struct efi_pxe_packet *answer(const struct efi_pxe_mode *mode)
{
	if (mode->pxe_reply_received)
		return &mode->pxe_reply;
	return mode->proxy_offer_received ? &mode->proxy_offer : &mode->dhcp_ack;
}

static void read_server(const struct efi_pxe_packet *packet, struct efi_ip_address *server)
{
	static const uint8_t none[4];
	size_t length = 0;
	const uint8_t *id = find_option(packet, OPTION_SERVER_ID, &length);

	memcpy(server->v4, packet->server_address, sizeof(server->v4));
	if (memcmp(server->v4, none, sizeof(none)) == 0 && id != NULL &&
	    length == sizeof(server->v4))
		memcpy(server->v4, id, sizeof(server->v4));
}

static void read_boot_file(const struct efi_pxe_packet *packet, char *text, size_t size)
{
	const uint8_t *file = packet->boot_file;
	size_t length = sizeof(packet->boot_file);

	text[0] = '\0';
	if (file[0] == '\0')
		file = find_option(packet, OPTION_BOOT_FILE, &length);
	if (file == NULL)
		return;
	length = strnlen((const char *)file, min_u64(length, size - 1));
	memcpy(text, file, length);
	text[length] = '\0';
}

void efi_pxe_open(struct efi_source *source, void *device)
{
	struct efi_pxe_base_code *pxe = NULL;

	if (source->services->handle_protocol(device, &pxe_guid, &pxe) != EFI_SUCCESS ||
	    !pxe->mode->started)
		return;
	if (pxe->mode->using_ipv6) {
		pr_warn("uefi: files are read by PXE over IPv4 only, and this is IPv6");
		return;
	}
	source->pxe = pxe;
	read_server(answer(pxe->mode), &source->server);
	read_boot_file(answer(pxe->mode), source->folder, sizeof(source->folder));
}

static const char *reason(efi_status_t status)
{
	switch (status) {
	case EFI_TIMEOUT:
	case EFI_NO_RESPONSE:
		return "the server does not answer (any more)";
	case EFI_TFTP_ERROR:
		return "the server refuses it";
	case EFI_BUFFER_TOO_SMALL:
		return "it has grown while it was read";
	}
	return "the transfer failed";
}

static int failed(const struct efi_source *source, const char *path, uint64_t size,
		  efi_status_t status)
{
	const uint8_t *ip = source->server.v4;

	pr_error("uefi: file \"%s\" of %llu bytes from the TFTP server %u.%u.%u.%u: %s (status "
		 "%#llx); see the server's log",
		 path, (unsigned long long)size, ip[0], ip[1], ip[2], ip[3], reason(status),
		 (unsigned long long)status);
	return -EINVAL;
}

static efi_status_t transfer(const struct efi_source *source, int operation, const char *path,
			     uint64_t *size, void *buffer)
{
	static const uint64_t block_size = BLOCK_SIZE;

	return source->pxe->mtftp(source->pxe, operation, buffer, false, size, &block_size,
				  &source->server, (const uint8_t *)path, NULL, false);
}

int efi_pxe_read(const struct efi_source *source, const char *path, struct boot_module *module)
{
	uint64_t whole;
	efi_status_t status;
	int error;

	module->size = 0;
	status = transfer(source, EFI_PXE_TFTP_GET_FILE_SIZE, path, &module->size, NULL);
	if (status == EFI_TFTP_ERROR)
		return -ENOENT;
	if (status != EFI_SUCCESS)
		return failed(source, path, 0, status);
	error = efi_allocate(source->services, module->size, path, &module->start.raw);
	if (error)
		return error;
	whole = module->size;
	status = transfer(source, EFI_PXE_TFTP_READ_FILE, path, &module->size,
			  (void *)(uintptr_t)module->start.raw);
	if (status != EFI_SUCCESS)
		return failed(source, path, whole, status);
	if (module->size == whole)
		return 0;
	pr_error("uefi: file \"%s\" ends after %llu of %llu bytes: is it cut short?", path,
		 (unsigned long long)module->size, (unsigned long long)whole);
	return -EINVAL;
}
