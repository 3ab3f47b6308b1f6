# SPDX-License-Identifier: GPL-2.0-only
"""A hard disk with GRUB for BIOSes in front of a FAT partition: made without root or loop devices."""

import gzip
import subprocess
from pathlib import Path

GRUB = Path("/usr/lib/grub/i386-pc")
MODULES = "biosdisk part_msdos fat linux boot serial terminal".split()
SECTOR = 512
CYLINDER = 16 * 63 * SECTOR       # Bochs wants whole ones
CYLINDERS = 40
PARTITION = 2048                  # its first sector; GRUB's own code lies before it
FAT_LBA = 0x0C
BOOT_CODE = slice(0, 440)
TABLE = 446
CONFIGURATION = """\
serial --unit=0 --speed=115200
terminal_output serial
set root=(hd0,msdos1)
linux /kernel {words}
initrd /initrd
boot
"""


def write_disk(disk: Path, kernel: Path, initrd: Path, words: str) -> None:
    """boot.img reads core.img's first sector from sector 1, and that one the rest behind it."""
    core = core_image(disk.parent, words)
    assert SECTOR + len(core) <= PARTITION * SECTOR
    sectors = CYLINDERS * CYLINDER // SECTOR - PARTITION
    data = bytearray(CYLINDERS * CYLINDER)
    data[BOOT_CODE] = (GRUB / "boot.img").read_bytes()[BOOT_CODE]
    data[TABLE:TABLE + 16] = (bytes([0x80, 0, 0, 0, FAT_LBA, 0, 0, 0])
                              + PARTITION.to_bytes(4, "little") + sectors.to_bytes(4, "little"))
    data[510:512] = b"\x55\xAA"
    data[SECTOR:SECTOR + len(core)] = core
    disk.write_bytes(data)
    where = f"{disk}@@{PARTITION * SECTOR}"
    command("mformat", "-i", where, "-T", str(sectors), "-h", "16", "-s", "63", "::")
    command("mcopy", "-i", where, str(kernel), "::kernel")
    packed = disk.parent / "initrd.gz"  # the BIOS reads a word at a time
    packed.write_bytes(gzip.compress(initrd.read_bytes(), mtime=0))
    command("mcopy", "-i", where, str(packed), "::initrd")


def core_image(folder: Path, words: str) -> bytes:
    configuration, core = folder / "grub.cfg", folder / "core.img"
    configuration.write_text(CONFIGURATION.format(words=words), encoding="ascii")
    command("grub-mkimage", "-O", "i386-pc", "-d", str(GRUB), "-p", "(hd0,msdos1)/", "-c",
            str(configuration), "-o", str(core), *MODULES)
    return core.read_bytes()


def command(*words: str) -> None:
    subprocess.run(words, check=True, capture_output=True, text=True)
