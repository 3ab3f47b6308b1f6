# SPDX-License-Identifier: GPL-2.0-only
"""vellum.bin by boot loaders that take it for a Linux kernel, each as its users set it up."""

import re
import shutil
import subprocess
import sys

import pytest

import debian_guests
from boot_machines import (MEMORY, WORDS, boot_machine, by_folder, by_net, make_image, run_all)
from debian_archive import ArchiveError
from vellum import INITRD, ROOT, VELLUM_BIN, VMI_KERNEL, Module, record

sys.path.insert(0, str(ROOT / "tests" / "bench"))
from guest_image.cpio import Archive  # noqa: E402

PXELINUX = ("/usr/lib/PXELINUX/pxelinux.0", "/usr/lib/syslinux/modules/bios/ldlinux.c32")
SYSTEMD_BOOT = "/usr/lib/systemd/boot/efi/systemd-bootx64.efi"
KEXEC = "/sbin/kexec"


def grub(firmware):
    """GRUB makes an archive of single files by itself, in its own way."""
    def machine(folder, _pack):
        boot = folder / "iso" / "boot"
        (boot / "grub").mkdir(parents=True)
        for path in (VELLUM_BIN, VMI_KERNEL, INITRD):
            shutil.copyfile(path, boot / path.name)
        (boot / "grub" / "grub.cfg").write_text(
            f"linux /boot/{VELLUM_BIN.name} mode=hv -- {WORDS}\n"
            f"initrd newc:kernel:/boot/{VMI_KERNEL.name} newc:initrd:/boot/{INITRD.name}\nboot\n")
        iso = folder / "grub.iso"
        subprocess.run(["grub-mkrescue", "-o", iso, folder / "iso"], check=True,
                       capture_output=True)
        return {"firmware": firmware, "cdrom": iso}
    return machine


def pxelinux(folder, pack):
    for path in (*PXELINUX, VELLUM_BIN):
        shutil.copy(path, folder)
    shutil.copyfile(pack, folder / "guest.cpio")
    (folder / "pxelinux.cfg").mkdir()
    (folder / "pxelinux.cfg" / "default").write_text(
        "DEFAULT vellum\nLABEL vellum\n  LINUX vellum.bin\n  APPEND mode=hv\n"
        "  INITRD guest.cpio\n")
    return by_net(folder, "bios", "pxelinux.0")


def systemd_boot(folder, pack):
    (folder / "EFI" / "BOOT").mkdir(parents=True)
    (folder / "loader" / "entries").mkdir(parents=True)
    shutil.copyfile(SYSTEMD_BOOT, folder / "EFI" / "BOOT" / "BOOTX64.EFI")
    shutil.copy(VELLUM_BIN, folder)
    shutil.copyfile(pack, folder / "guest.cpio")
    (folder / "loader" / "entries" / "vellum.conf").write_text(
        "title Vellum\nlinux /vellum.bin\ninitrd /guest.cpio\noptions mode=hv\n")
    return by_folder(folder)


KEXEC_INIT = """\
#!/bin/sh
export PATH=/bin:/sbin
busybox mount -t proc proc /proc
busybox mount -t sysfs sysfs /sys
kexec --load /vellum.bin --initrd=/guest.cpio --append=mode=hv && kexec --exec
echo "kexec failed"
busybox poweroff -f
"""


def kexec(folder, pack):
    """Debian's kernel, with an init that starts Vellum in its place."""
    libraries = re.findall(r"(/\S+) \(0x", subprocess.run(["ldd", KEXEC], check=True, text=True,
                                                          capture_output=True).stdout)
    archive = Archive()
    for path in (KEXEC, *libraries):
        parents = path.strip("/").split("/")[:-1]
        for depth in range(1, len(parents) + 1):
            archive.add_folder("/".join(parents[:depth]))
        with open(path, "rb") as stream:
            archive.add_file(path.strip("/"), stream.read(), executable=True)
    archive.add_file("vellum.bin", VELLUM_BIN.read_bytes())
    archive.add_file("guest.cpio", pack.read_bytes())
    archive.add_file("init", KEXEC_INIT.encode(), executable=True)
    initrd = folder / "kexec.cpio"
    initrd.write_bytes(INITRD.read_bytes() + archive.to_bytes())
    return {"image": debian_guests.find_or_fetch("linux-amd64"), "modules": [Module(initrd)],
            "append": "console=ttyS0 no_timer_check panic=-1", "memory": 2 * MEMORY}


# How each is set up in a folder, and what Vellum calls it.
LOADERS = {
    "grub-bios": (grub("bios"), "GRUB"),
    "grub-uefi": (grub("uefi"), "GRUB"),
    "pxelinux": (pxelinux, "Syslinux"),
    "systemd-boot": (systemd_boot, "UEFI firmware"),
    "kexec": (kexec, "kexec"),
}


def wanted_runs(items):
    return dict.fromkeys(item.callspec.params["loader"] for item in items
                         if "runs" in item.fixturenames and item.module.__name__ == __name__)


@pytest.fixture(scope="module")
def runs(request, tmp_path_factory):
    """Results by loader; for one that can't be had, why."""
    pack = make_image("pack", "loaders.pack", "hv")

    def run_one(loader):
        try:
            machine = LOADERS[loader][0](tmp_path_factory.mktemp(loader), pack)
        except ArchiveError as error:
            return error
        return boot_machine(f"loader-{loader}", **machine)
    return run_all(wanted_runs(request.session.items), run_one)


@pytest.mark.parametrize("loader", LOADERS)
def test_loader_starts_vellum_and_its_guest(runs, loader):
    result = runs[loader]
    if isinstance(result, ArchiveError):
        pytest.skip(str(result))
    assert "vellum-guest: done" in result.com1, result.com1[-2000:] + result.com2[-2000:]
    assert record(result.com2, "boot")["mode"] == "hv"
    assert f"booted by {LOADERS[loader][1]}" in result.com2
    assert "vellum: warning" not in result.com2 and "vellum: error" not in result.com2
