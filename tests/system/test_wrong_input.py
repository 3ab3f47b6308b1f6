# SPDX-License-Identifier: GPL-2.0-only
"""Wrong input gets an error that names the file and the number, and then a stop."""

import re
import struct

import pytest

from vellum import INITRD, VMI_KERNEL, Module, boot, kernel, record

# Offsets in a bzImage: Linux's Documentation/x86/boot.rst
SETUP_SECTS, BOOT_FLAG, MAGIC, VERSION, LOADFLAGS, INIT_SIZE = (
    0x1F1, 0x1FE, 0x202, 0x206, 0x211, 0x260)
STOPPED = '"why":"error"}'


@pytest.fixture(scope="module")
def image():
    return VMI_KERNEL.read_bytes()


def patched(image, offset, layout, value):
    data = bytearray(image)
    struct.pack_into(layout, data, offset, value)
    return bytes(data)


def refusal(tmp_path, name, contents, **machine):
    """Boots contents as the kernel; returns Vellum's console, which must end in a stop."""
    path = tmp_path / name
    path.write_bytes(contents)
    return stopped(f"wrong-{name}", [kernel(path), Module(INITRD)], **machine)


def stopped(name, modules, **machine):
    result = boot(name, modules=modules, marker=STOPPED, seconds=30, **machine)
    assert record(result.com2, "end")["why"] == "error", result.com2
    assert "nothing was started" in result.com2
    assert not result.com1
    return result.com2


def test_no_module():
    assert re.search(r"no kernel: 0 modules given", stopped("wrong-none", []))


def test_text_file(tmp_path):
    console = refusal(tmp_path, "notes.txt", b"not a kernel\n" * 1000)
    assert re.search(r'kernel ".*notes\.txt" is ', console)


def test_empty_file(tmp_path):
    assert re.search(r'empty\.bin"', refusal(tmp_path, "empty.bin", b""))


@pytest.mark.parametrize("kept", [0x1F0, 0x220, 4096, 1_000_000])
def test_truncated(tmp_path, image, kept):
    console = refusal(tmp_path, f"cut-{kept}", image[:kept])
    assert re.search(rf'kernel ".*cut-{kept}".*{kept}|kernel ".*cut-{kept}" is', console)


def test_old_protocol(tmp_path, image):
    console = refusal(tmp_path, "old", patched(image, VERSION, "<H", 0x0203))
    assert re.search(r'kernel ".*old" has boot protocol 2\.03, at least 2\.04 needed', console)


def test_zimage(tmp_path, image):
    console = refusal(tmp_path, "low", patched(image, LOADFLAGS, "B", image[LOADFLAGS] & ~1))
    assert re.search(r'kernel ".*low" is a zImage: loadflags 0', console)


def test_vmlinux():
    path = VMI_KERNEL.parent / "vmlinux"
    console = stopped("wrong-vmlinux", [kernel(path), Module(INITRD)])
    assert re.search(r'kernel ".*vmlinux" is a 32-bit ELF file', console)


def test_64_bit_only(tmp_path):
    elf64 = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHI", 2, 62, 1) + bytes(4096)
    assert re.search(r'kernel ".*elf64" is a 64-bit ELF file', refusal(tmp_path, "elf64", elf64))


def test_kernel_that_does_not_fit(tmp_path, image):
    console = refusal(tmp_path, "huge", patched(image, INIT_SIZE, "<I", 0x30000000))
    assert re.search(r'kernel ".*huge" needs 786432 KiB of free RAM', console)


def test_initrd_that_does_not_fit(tmp_path):
    path = tmp_path / "big.cpio"
    path.write_bytes(bytes(40 << 20))
    console = stopped("wrong-initrd", [kernel(), Module(path)], memory=64)
    assert re.search(r'initrd ".*big\.cpio" of 40960 KiB does not fit', console)


def test_too_little_memory():
    console = stopped("wrong-memory", None, memory=8)
    assert re.search(r"\d+ MiB", console)
    assert "error:" in console
