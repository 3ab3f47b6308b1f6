# SPDX-License-Identifier: GPL-2.0-only
"""The description of a machine; it knows nothing of any emulator."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from pathlib import Path

from .errors import EmulatorError

CPUS_KNOWN = ("amd", "intel")
FIRMWARES_KNOWN = ("bios", "uefi")


@dataclass(frozen=True)
class Module:
    """A file that the boot loader puts into memory, and the words that go with it."""

    path: Path | str
    words: str = ""


@dataclass(frozen=True)
class Netboot:
    """A network with one server, which the machine boots from."""

    folder: Path | str   # what the server offers by TFTP
    file: str            # that the machine is told to boot: a name there, or a URL
    ipxe: bool = True    # the network card has iPXE in its ROM; else the firmware's own PXE


class Link(enum.Enum):
    """What a serial port is wired to, beside its log file."""

    NONE = "none"          # nothing: output goes to the log, there is no input
    TERMINAL = "terminal"  # this process's standard input and output
    SOCKET = "socket"      # a socket that the emulator listens on: Unix's, or TCP on this computer


@dataclass(frozen=True)
class Serial:
    """One serial port. Whatever the link, the whole output is in the log as well."""

    log: Path
    link: Link = Link.NONE
    socket: Path | None = None  # the socket's path, with Link.SOCKET
    tcp: int | None = None      # or its port
    device: Path | None = None  # a terminal to use in place of the log: a relay keeps that


@dataclass
class Machine:
    """A PC with two serial ports: COM1 is the guest's, COM2 is Vellum's."""

    cpu: str = "amd"           # the vendor
    model: str | None = None   # the processor, by the emulator's own name for it
    memory: int = 512          # MiB
    cpus: int = 1
    icount: bool = False       # virtual time counts instructions, and runs repeat exactly
    firmware: str = "bios"
    image: Path | str | None = None  # a Multiboot image or a bzImage, started directly
    append: str = ""                 # the image's command line
    modules: list[Module] = field(default_factory=list)
    option_roms: list[Path | str] = field(default_factory=list)
    cdrom: Path | str | None = None
    disk: Path | str | None = None   # a raw image of the first hard disk; stays as it is
    usb: Path | str | None = None    # the contents of a USB stick to boot from
    netboot: Netboot | None = None
    debug_exit: bool = False   # "isa-debug-exit" at port 0xf4, if the emulator has it:
                               # writing v ends with status 2v+1
    extra: list[str] = field(default_factory=list)  # the emulator's own words

    def check(self) -> None:
        """Raises EmulatorError for what no emulator could build."""
        if self.cpu not in CPUS_KNOWN:
            raise EmulatorError(f"unknown cpu '{self.cpu}', want one of {', '.join(CPUS_KNOWN)}")
        if self.firmware not in FIRMWARES_KNOWN:
            raise EmulatorError(f"unknown firmware '{self.firmware}', want one of "
                                f"{', '.join(FIRMWARES_KNOWN)}")
        if self.memory < 1 or self.cpus < 1:
            raise EmulatorError("a machine has at least one processor and 1 MiB of memory")
        if self.modules and self.image is None:
            raise EmulatorError("modules need an image that takes them")
        if self.netboot is not None and not Path(self.netboot.folder).is_dir():
            raise EmulatorError(f"no such folder: {self.netboot.folder}")
        for path in self.files():
            if not Path(path).is_file():
                raise EmulatorError(f"no such file: {path}")

    def files(self) -> list[Path | str]:
        """Every file that the machine is made of."""
        single = [path for path in (self.image, self.cdrom, self.disk, self.usb)
                  if path is not None]
        return single + [module.path for module in self.modules] + list(self.option_roms)
