# SPDX-License-Identifier: GPL-2.0-only
"""What is said when a file or a server on the way to the guest is missing, cut short or refused."""

import contextlib
import re
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from boot_machines import (HOST, boot_machine, by_folder, by_net, http_server, make_image, run_all)
from vellum import IMAGE, VELLUM_BIN, VMI_KERNEL, Module

SECURE_BOOT_CODE = "/usr/share/OVMF/OVMF_CODE_4M.secboot.fd"
SECURE_BOOT_VARIABLES = "/usr/share/OVMF/OVMF_VARS_4M.snakeoil.fd"
SNAKEOIL = "/usr/share/ovmf/PkKek-1-snakeoil"
EFI_PROGRAM = "/usr/lib/systemd/boot/efi/linuxx64.efi.stub"
MEMDISK = "/usr/lib/syslinux/memdisk"

MULTIBOOT1, MULTIBOOT2 = 0x1BADB002, 0xE85250D6
UNKNOWN_FLAG = 1 << 5
UNKNOWN_TAG = 99

STOPPED = '"why":"error"}'
NOT_WHOLE = "the lines above say which file did not arrive whole"


@dataclass
class Lab:
    """Where one fault is made."""

    folder: Path
    pack: Path                # a whole guest as archive
    served: Path              # and as a folder for servers
    stack: contextlib.ExitStack


def with_pack(contents):
    """vellum.bin with an initrd of these bytes, made of those of a whole one."""
    def machine(lab):
        pack = lab.folder / "guest.cpio"
        pack.write_bytes(contents(lab))
        return {"image": VELLUM_BIN, "modules": [Module(pack)]}
    return machine


def with_kernel(path, size=-1):
    """An archive whose kernel is this file, or its first bytes."""
    def machine(lab):
        kernel = lab.folder / "bzImage"
        with open(path, "rb") as stream:
            kernel.write_bytes(stream.read(size))
        pack = make_image("pack", f"{lab.folder.name}.pack", "hv", kernel=kernel)
        return {"image": VELLUM_BIN, "modules": [Module(pack)]}
    return machine


def with_multiboot(header):
    """vellum.elf with a Multiboot kernel that has this header, and nothing else."""
    def machine(lab):
        kernel = lab.folder / "kernel"
        kernel.write_bytes(header + bytes(4096))
        return {"image": IMAGE, "modules": [Module(kernel)]}
    return machine


def multiboot1(flags):
    return struct.pack("<III", MULTIBOOT1, flags, -(MULTIBOOT1 + flags) & 0xFFFFFFFF)


def multiboot2(tag):
    size = 16 + 8 + 8
    return struct.pack("<IIII HHI HHI", MULTIBOOT2, 0, size, -(MULTIBOOT2 + size) & 0xFFFFFFFF,
                       tag, 0, 8, 0, 0, 8)


def without_kernel(lab):
    folder = lab.folder / "pxe"
    shutil.copytree(lab.served, folder)
    (folder / "kernel").unlink()
    return folder


def by_http(folder, firmware, lab, cut=None):
    url = lab.stack.enter_context(http_server(folder, cut))
    return by_net(folder, firmware, f"{url}/boot.ipxe")


def stick_of(image, lab):
    folder = lab.folder / "stick" / "EFI" / "BOOT"
    folder.mkdir(parents=True)
    shutil.copyfile(image, folder / "BOOTX64.EFI")
    return by_folder(lab.folder / "stick")


def signed_image(folder):
    """vellum.bin, signed with the key that Debian's test firmware trusts."""
    key, signed = folder / "key.pem", folder / "signed.efi"
    subprocess.run(["openssl", "rsa", "-in", f"{SNAKEOIL}.key", "-passin", "pass:snakeoil",
                    "-out", key], check=True, capture_output=True)
    subprocess.run(["sbsign", "--key", key, "--cert", f"{SNAKEOIL}.pem", "--output", signed,
                    VELLUM_BIN], check=True, capture_output=True)
    return signed


def secure_boot(lab):
    stick = stick_of(signed_image(lab.folder), lab)
    return {"extra": ["-machine", "q35,smm=on",
                      "-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={SECURE_BOOT_CODE}",
                      "-drive", f"if=pflash,unit=1,format=raw,snapshot=on,file={SECURE_BOOT_VARIABLES}",
                      *stick["extra"]]}


# The machine; the text that ends its run; what its serial lines have to show.
FAULTS = {
    "no-guest": (lambda lab: {"image": VELLUM_BIN}, STOPPED,
                 r"error: no kernel: 0 modules given.*vellum\.bin one as initrd"),
    "archive-cut": (with_pack(lambda lab: lab.pack.read_bytes()[:-1_000_000]), STOPPED,
                    r"error: archive: initrd ends at byte \d+, but the archive has only \d+: "
                    r"was the file cut short\?"),
    "archive-without-kernel": (with_pack(lambda lab: lab.pack.read_bytes().replace(
        b"kernel\0", b"Kernel\0")), STOPPED, r'error: archive: the kernel "kernel" is not in it'),
    "kernel-cut": (with_kernel(VMI_KERNEL, 1_000_000), STOPPED,
                   r'error: kernel "kernel" is truncated: 1000000 bytes, its header says at least'),
    "kernel-for-efi-only": (with_kernel(EFI_PROGRAM), STOPPED,
                            r'error: kernel "kernel" is a program for EFI only \(PE machine 0x8664\)'),
    "kernel-for-16-bits": (with_kernel(MEMDISK), STOPPED,
                           r'error: kernel "kernel" has boot protocol 2\.03, at least 2\.04 needed'),
    "multiboot-flag": (with_multiboot(multiboot1(UNKNOWN_FLAG)), STOPPED,
                       r"error: kernel .* asks for what Vellum does not know: Multiboot flags 0x20, of "
                       r"which 0x20; build it without"),
    "multiboot2-tag": (with_multiboot(multiboot2(UNKNOWN_TAG)), STOPPED,
                       r"error: kernel .* asks for what Vellum cannot do: a tag of this type "
                       r"\(Multiboot 2, 99\); build it without"),
    "no-64-bit-mode": (lambda lab: {"image": VELLUM_BIN, "modules": [Module(lab.pack)],
                                    "extra": ["-cpu", "qemu32"]}, "without Vellum",
                       r"error: this processor has no 64-bit mode .* boot the guest kernel without"),
    "tftp-missing": (lambda lab: by_net(without_kernel(lab), "uefi", "vellum.bin", ipxe=False),
                     "vellum.cfg there",
                     rf'error: uefi: no kernel "kernel" from the TFTP server {re.escape(HOST)}'),
    "http-missing": (lambda lab: by_http(without_kernel(lab), "uefi", lab), "See the server's log",
                     NOT_WHOLE),
    "server-gone": (lambda lab: by_http(lab.served, "uefi", lab, cut="initrd"),
                    "See the server's log", NOT_WHOLE),
    "bare-stick": (lambda lab: stick_of(VELLUM_BIN, lab), "vellum.cfg there",
                   r'error: uefi: no kernel "kernel" from the file system that Vellum came from, '
                   r"in \\EFI\\BOOT\\"),
    "secure-boot": (secure_boot, "Secure Boot off",
                    r"error: uefi: Secure Boot is on, and Vellum does not check"),
}


def wanted_runs(items):
    return [item.callspec.params["fault"] for item in items
            if "runs" in item.fixturenames and item.module.__name__ == __name__]


@pytest.fixture(scope="module")
def runs(request, tmp_path_factory):
    """Results by fault."""
    pack, served = make_image("pack", "faults.pack", "hv"), make_image("pxe", "faults.pxe", "hv")

    def run_one(fault):
        machine, marker, _ = FAULTS[fault]
        with contextlib.ExitStack() as stack:
            lab = Lab(tmp_path_factory.mktemp(fault), pack, served, stack)
            return boot_machine(f"fault-{fault}", marker=marker, **machine(lab))
    return run_all(wanted_runs(request.session.items), run_one)


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_named(runs, fault):
    said = runs[fault].com1 + runs[fault].com2
    assert re.search(FAULTS[fault][2], said), said[-3000:]
    assert "vellum-guest" not in said
