# SPDX-License-Identifier: GPL-2.0-only
"""Every way to start Vellum from firmware, natively and as a hypervisor, with the real kernel to
its end. Further boot loaders are in test_boot_loaders.py, what goes wrong in test_boot_faults.py."""

import re
import shutil

import pytest

from boot_machines import (MODES, WORDS, boot_machine, by_folder, by_kernel, by_net, http_server,
                           make_image, run_all)
from vellum import VELLUM_BIN, VMI_KERNEL, Module, record

LIMIT = 20_000_000  # instructions of Vellum from its loader to the guest


@pytest.fixture(scope="module")
def images(tmp_path_factory):
    """Pack, ISO, netboot folder and UEFI stick by mode."""
    return {mode: {what: make_image(what, f"{mode}.{what}", entry)
                   for what in ("pack", "iso", "pxe")}
            | {"stick": make_stick(tmp_path_factory.mktemp(mode), entry)}
            for mode, entry in MODES.items()}


def make_stick(folder, entry):
    """vellum.bin as UEFI's default boot file, and vellum.cfg and the guest's files beside it."""
    boot = folder / "EFI" / "BOOT"
    boot.parent.mkdir()
    shutil.copytree(make_image("pxe", f"{folder.name}.stick", entry), boot)
    shutil.copyfile(VELLUM_BIN, boot / "BOOTX64.EFI")
    return folder


# What machine boots, from the images of one mode. pxe-bios-http needs a server beside it.
MACHINES = {
    "kernel-bios": lambda images: by_kernel(images, "bios"),
    "kernel-uefi": lambda images: by_kernel(images, "uefi"),
    "pxe-bios-tftp": lambda images: by_net(images["pxe"], "bios"),
    "pxe-bios-http": lambda images: by_net(images["pxe"], "bios", f"{images['url']}/boot.ipxe"),
    "pxe-uefi-ipxe": lambda images: by_net(images["pxe"], "uefi"),
    "pxe-uefi-firmware": lambda images: by_net(images["pxe"], "uefi", "vellum.bin", ipxe=False),
    "iso-bios": lambda images: {"firmware": "bios", "cdrom": images["iso"]},
    "iso-uefi": lambda images: {"firmware": "uefi", "cdrom": images["iso"]},
    "usb-bios": lambda images: {"firmware": "bios", "usb": images["iso"]},
    "usb-uefi": lambda images: {"firmware": "uefi", "usb": images["iso"]},
    "stick-uefi": lambda images: by_folder(images["stick"]),
}


def wanted_runs(items):
    """Paths and modes that the selected tests look at; those are the slow part."""
    params = [item.callspec.params for item in items
              if "runs" in item.fixturenames and item.module.__name__ == __name__]
    return dict.fromkeys((one["path"], mode) for one in params
                         for mode in ([one["mode"]] if "mode" in one else MODES))


@pytest.fixture(scope="module")
def runs(request, images):
    """Results by path and mode."""
    def run_one(job):
        path, mode = job
        with http_server(images[mode]["pxe"]) as url:
            machine = MACHINES[path]({**images[mode], "url": url})
            return boot_machine(f"{path}-{mode}", **machine)
    return run_all(wanted_runs(request.session.items), run_one)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("path", MACHINES)
def test_guest_comes_up_and_ends_the_machine(runs, path, mode):
    result = runs[path, mode]
    assert "vellum-guest: done" in result.com1, result.com1[-2000:] + result.com2[-2000:]
    assert result.finished
    assert record(result.com2, "boot")["mode"] == mode
    assert ("announced itself" in result.com2) == (mode == "hv")


@pytest.mark.parametrize("path", MACHINES)
def test_both_modes_get_the_same_memory(runs, path):
    maps = [re.findall(r"BIOS-e820: (\[mem .*)", runs[path, mode].com1) for mode in MODES]
    assert maps[0] and maps[0] == maps[1]


@pytest.mark.parametrize("path", MACHINES)
def test_loader_is_named(runs, path):
    loader = re.search(r"booted by (.*)", runs[path, "hv"].com2)[1]
    expected = {"kernel-bios": "QEMU", "pxe-bios-tftp": "iPXE", "pxe-bios-http": "iPXE"}
    grub = path.startswith(("iso", "usb"))
    assert loader.startswith("GRUB" if grub else expected.get(path, "UEFI firmware"))


# Time counts instructions; while the machine waits for the network it goes by the clock.
COUNTED = ["-icount", "shift=0,sleep=on"]


def test_from_pxe_to_guest_takes_few_instructions(images):
    result = boot_machine("cost", **by_net(images["hv"]["pxe"], "bios"), extra=COUNTED,
                          marker='"event":"boot"')
    assert 1_000_000 < record(result.com2, "boot")["cycles"] <= LIMIT


def test_words_of_the_loader_come_before_those_of_the_archive(images):
    result = boot_machine("words", **by_kernel(images["hv"], "bios"),
                          append=f"mode=native -- {WORDS} colour=red")
    assert record(result.com2, "boot")["mode"] == "native"
    assert re.search(r"kernel command line: .* colour=red", result.com2)
    assert "vellum-guest: done" in result.com1


def test_kernel_alone_as_initrd():
    result = boot_machine("alone", image=VELLUM_BIN, modules=[Module(VMI_KERNEL)],
                          append="mode=native -- console=ttyS0", marker="Linux version")
    assert "Linux version" in result.com1
    assert "kernel command line: console=ttyS0" in result.com2
