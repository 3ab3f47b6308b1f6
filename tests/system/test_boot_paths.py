# SPDX-License-Identifier: GPL-2.0-only
"""Every way to start Vellum, natively and as a hypervisor, with the real kernel to its end;
and what is said when a file is missing, cut short or refused."""

import contextlib
import http.server
import re
import shutil
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from vellum import (BUILD, INITRD, KERNEL_WORDS, ROOT, VELLUM_BIN, VMI_KERNEL, Limits, Machine,
                    Module, emulator_for, record, run)
from emulator import Netboot  # noqa: E402

PATHS = BUILD / "boot-paths"
MEMORY = 256
AT_ONCE = 2
SECONDS = 600   # OVMF's PXE waits long for answers that do not come
# A busy computer's emulator is too slow for the kernel's look at its timer interrupt.
WORDS = f"{KERNEL_WORDS} no_timer_check panic=-1"
MODES = {"native": "native", "hv": "vmi"}  # record's word, and the menus' entry
HOST = "10.0.2.2"  # this computer, as the emulator's network has it

SECURE_BOOT_CODE = "/usr/share/OVMF/OVMF_CODE_4M.secboot.fd"
SECURE_BOOT_VARIABLES = "/usr/share/OVMF/OVMF_VARS_4M.snakeoil.fd"
SNAKEOIL = "/usr/share/ovmf/PkKek-1-snakeoil"


def make_image(what, name, entry, kernel=VMI_KERNEL, initrd=INITRD):
    """What "make pack", "make iso" or "make pxe" makes, with menus that do not wait."""
    PATHS.mkdir(parents=True, exist_ok=True)
    output = PATHS / name
    subprocess.run([ROOT / "boot" / "images", what, output, "--build", BUILD, "--kernel", kernel,
                    "--initrd", initrd, "--append", WORDS, "--default", entry,
                    "--timeout", "0"], check=True)
    return output


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, and sends only a part of the file that is named so."""

    cut = None

    def copyfile(self, source, outputfile):
        if self.cut is not None and self.path.endswith(self.cut):
            outputfile.write(source.read(100_000))
            self.close_connection = True
            return
        super().copyfile(source, outputfile)

    def log_message(self, *_words):
        pass


@contextlib.contextmanager
def http_server(folder, cut=None):
    """Its URL, as the machine sees it. cut: a file that breaks off after 100 kB."""
    handler = type("FolderHandler", (Handler,), {"cut": cut})
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *words: handler(*words, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://{HOST}:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="module")
def images():
    """Pack, ISO and netboot folder by mode."""
    return {mode: {what: make_image(what, f"{mode}.{what}", entry)
                   for what in ("pack", "iso", "pxe")}
            for mode, entry in MODES.items()}


def boot_machine(name, marker=None, seconds=SECONDS, **machine):
    description = Machine(memory=MEMORY, **machine)
    return run(emulator_for(description), description, BUILD / "logs", f"path-{name}",
               Limits(seconds=seconds, marker=marker))


def by_kernel(images, firmware):
    return {"firmware": firmware, "image": VELLUM_BIN, "modules": [Module(images["pack"])]}


def by_net(images, firmware, file="boot.ipxe", ipxe=True):
    return {"firmware": firmware, "netboot": Netboot(images["pxe"], file, ipxe)}


# What machine boots, from the images of one mode. pxe-bios-http needs a server beside it.
MACHINES = {
    "kernel-bios": lambda images: by_kernel(images, "bios"),
    "kernel-uefi": lambda images: by_kernel(images, "uefi"),
    "pxe-bios-tftp": lambda images: by_net(images, "bios"),
    "pxe-bios-http": lambda images: by_net(images, "bios", f"{images['url']}/boot.ipxe"),
    "pxe-uefi-ipxe": lambda images: by_net(images, "uefi"),
    "pxe-uefi-firmware": lambda images: by_net(images, "uefi", "vellum.bin", ipxe=False),
    "iso-bios": lambda images: {"firmware": "bios", "cdrom": images["iso"]},
    "iso-uefi": lambda images: {"firmware": "uefi", "cdrom": images["iso"]},
    "usb-bios": lambda images: {"firmware": "bios", "usb": images["iso"]},
    "usb-uefi": lambda images: {"firmware": "uefi", "usb": images["iso"]},
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
    jobs = list(wanted_runs(request.session.items))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(jobs, pool.map(run_one, jobs)))


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


@pytest.mark.parametrize("firmware", ["bios", "uefi"])
def test_grub_as_if_vellum_were_linux(firmware, tmp_path):
    """GRUB makes an archive of single files by itself, in its own way."""
    boot = tmp_path / "iso" / "boot"
    (boot / "grub").mkdir(parents=True)
    for path in (VELLUM_BIN, VMI_KERNEL, INITRD):
        shutil.copyfile(path, boot / path.name)
    (boot / "grub" / "grub.cfg").write_text(
        f"linux /boot/{VELLUM_BIN.name} mode=hv -- {WORDS}\n"
        f"initrd newc:kernel:/boot/{VMI_KERNEL.name} newc:initrd:/boot/{INITRD.name}\nboot\n")
    iso = tmp_path / "grub.iso"
    subprocess.run(["grub-mkrescue", "-o", iso, tmp_path / "iso"], check=True,
                   capture_output=True)
    result = boot_machine(f"grub-linux-{firmware}", firmware=firmware, cdrom=iso)
    assert "vellum-guest: done" in result.com1
    assert "booted by GRUB" in result.com2


def test_from_loader_to_guest_takes_few_instructions(images):
    result = boot_machine("kernel-cost", **by_kernel(images["hv"], "bios"), icount=True)
    assert record(result.com2, "boot")["cycles"] <= 20_000_000


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


# ---- what goes wrong ----

STOPPED = '"why":"error"}'


def test_no_guest_at_all():
    result = boot_machine("nothing", image=VELLUM_BIN, marker=STOPPED)
    assert re.search(r"error: no kernel: 0 modules given.*vellum\.bin one as initrd", result.com2)


def test_archive_cut_short(images, tmp_path):
    cut = tmp_path / "cut.cpio"
    cut.write_bytes(images["hv"]["pack"].read_bytes()[:-1_000_000])
    result = boot_machine("cut", image=VELLUM_BIN, modules=[Module(cut)], marker=STOPPED)
    assert re.search(r"error: archive: initrd ends at byte \d+, but the archive has only \d+: "
                     r"was the file cut short\?", result.com2)


def test_kernel_cut_short(tmp_path):
    kernel = tmp_path / "bzImage"
    kernel.write_bytes(VMI_KERNEL.read_bytes()[:1_000_000])
    pack = make_image("pack", "cut-kernel.pack", "hv", kernel=kernel)
    result = boot_machine("cut-kernel", image=VELLUM_BIN, modules=[Module(pack)], marker=STOPPED)
    assert re.search(r'error: kernel "kernel" .*', result.com2)


def test_file_missing_on_the_tftp_server(images, tmp_path):
    folder = tmp_path / "pxe"
    shutil.copytree(images["hv"]["pxe"], folder)
    (folder / "kernel").unlink()
    result = boot_machine("missing", firmware="uefi", marker="vellum.cfg there",
                          netboot=Netboot(folder, "vellum.bin", ipxe=False))
    assert f'error: uefi: no kernel "kernel" from the TFTP server {HOST}' in result.com2


def test_server_gone_half_way(images):
    with http_server(images["hv"]["pxe"], cut="initrd") as url:
        result = boot_machine("half", firmware="uefi", marker="See the server's log",
                              netboot=Netboot(images["hv"]["pxe"], f"{url}/boot.ipxe"))
    assert "Vellum: the lines above say which file did not arrive whole" in result.com1


def test_nothing_beside_the_image_on_a_file_system(tmp_path):
    folder = tmp_path / "stick" / "EFI" / "BOOT"
    folder.mkdir(parents=True)
    shutil.copyfile(VELLUM_BIN, folder / "BOOTX64.EFI")
    result = boot_machine("bare-stick", firmware="uefi", marker="vellum.cfg there",
                          extra=["-drive", f"file=fat:rw:{tmp_path / 'stick'},format=raw,if=virtio"])
    assert re.search(r'error: uefi: no kernel "kernel" from the file system that Vellum came from, '
                     r"in \\EFI\\BOOT\\", result.com2)


def signed_image(folder):
    """vellum.bin, signed with the key that Debian's test firmware trusts."""
    key, signed = folder / "key.pem", folder / "BOOTX64.EFI"
    subprocess.run(["openssl", "rsa", "-in", f"{SNAKEOIL}.key", "-passin", "pass:snakeoil",
                    "-out", key], check=True, capture_output=True)
    subprocess.run(["sbsign", "--key", key, "--cert", f"{SNAKEOIL}.pem", "--output", signed,
                    VELLUM_BIN], check=True, capture_output=True)
    return signed


def test_secure_boot(tmp_path):
    folder = tmp_path / "stick" / "EFI" / "BOOT"
    folder.mkdir(parents=True)
    shutil.move(signed_image(tmp_path), folder / "BOOTX64.EFI")
    result = boot_machine("secure", marker="Secure Boot off", extra=[
        "-machine", "q35,smm=on",
        "-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={SECURE_BOOT_CODE}",
        "-drive", f"if=pflash,unit=1,format=raw,snapshot=on,file={SECURE_BOOT_VARIABLES}",
        "-drive", f"file=fat:rw:{tmp_path / 'stick'},format=raw,if=virtio"])
    assert "error: uefi: Secure Boot is on, and Vellum does not check" in result.com2
