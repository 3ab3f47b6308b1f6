# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of boot paths share: Vellum's images, a web server, machines that boot."""

import contextlib
import http.server
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

from vellum import (BUILD, INITRD, KERNEL_WORDS, ROOT, VELLUM_BIN, VMI_KERNEL, Limits, Machine,
                    Module, emulator_for, run)
from emulator import Netboot

PATHS = BUILD / "boot-paths"
MEMORY = 256
AT_ONCE = 2
SECONDS = 900   # OVMF's PXE waits long for answers that do not come
# A busy computer's emulator is too slow for the kernel's look at its timer interrupt.
WORDS = f"{KERNEL_WORDS} no_timer_check panic=-1"
MODES = {"native": "native", "hv": "vmi"}  # record's word, and the menus' entry
HOST = "10.0.2.2"  # this computer, as the emulator's network has it


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


def boot_machine(name, marker=None, seconds=SECONDS, memory=MEMORY, **machine):
    description = Machine(memory=memory, **machine)
    return run(emulator_for(description), description, BUILD / "logs", f"path-{name}",
               Limits(seconds=seconds, marker=marker))


def run_all(jobs, run_one):
    """Results by job; some at once, as firmware waits more than it works."""
    jobs = list(jobs)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        return dict(zip(jobs, pool.map(run_one, jobs)))


def by_kernel(images, firmware):
    return {"firmware": firmware, "image": VELLUM_BIN, "modules": [Module(images["pack"])]}


def by_net(folder, firmware, file="boot.ipxe", ipxe=True):
    return {"firmware": firmware, "netboot": Netboot(folder, file, ipxe)}


def by_folder(folder):
    """UEFI finds EFI/BOOT/BOOTX64.EFI on a disk that QEMU makes of a folder."""
    return {"firmware": "uefi",
            "extra": ["-drive", f"file=fat:rw:{folder},format=raw,if=virtio"]}
