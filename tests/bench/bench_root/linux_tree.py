# SPDX-License-Identifier: GPL-2.0-only
"""The part of Debian's linux-source-6.1 that a guest compiles: i386 tinyconfig, prepared.

What a build does before it compiles the kernel itself (configure it, compile the tools that
run on the building machine) is done here once; then the tools are built again for the guest.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

PACKAGED = Path("/usr/src/linux-source-6.1.tar.xz")

# Not read when files of lib, kernel and mm are compiled: other architectures, drivers, file
# systems, documentation. The Kconfig files and Makefiles of all of them are.
NOT_UNPACKED = (
    "*/arch/[!x]*/*.[chS]", "*/arch/[!x]*/dts/*", "*/arch/x86/kvm/*.[chS]",
    "*/Documentation/*.*", "*.rst", "*.dts", "*.dtsi", "*/LICENSES/*", "*/MAINTAINERS",
    "*/drivers/*.[chS]", "*/sound/*.[chS]", "*/net/*/*.[chS]", "*/samples/*.[chS]",
    "*/fs/*/*.[chS]", "*/security/*/*.[chS]", "*/crypto/*.[chS]",
    "*/tools/testing/*", "*/tools/perf/*", "*/tools/power/*", "*/include/dt-bindings/*",
)
# The kernel's headers for i386 are those for x86-64; gcc -m32 does not look there by itself.
GUEST_CC = "gcc -m32 -static -idirafter /usr/include/$(gcc -print-multiarch)"
ELF64 = b"\x7fELF\x02"
SAVED_COMMAND = re.compile(r"^cmd_\S+ := gcc (.*)$", re.MULTILINE)
DEPENDENCY_OUTSIDE = re.compile(r"^  +/.*\\\n", re.MULTILINE)


class SourceError(Exception):
    """Why there is no kernel source to compile; the message is for the user."""


def tarball() -> Path:
    path = Path(os.environ.get("LINUX_SOURCE") or PACKAGED)
    if not path.is_file():
        raise SourceError(f"{path} is missing: install Debian's package linux-source-6.1, "
                          "or point LINUX_SOURCE at its tarball")
    return path


def make(folder: Path) -> None:
    """Unpacks and prepares the tree."""
    folder.mkdir(parents=True)
    skip = [f"--exclude={pattern}" for pattern in NOT_UNPACKED]
    run(["tar", "-xf", str(tarball().resolve()), "--strip-components=1", "--no-same-owner",
         "--wildcards", *skip], folder)
    run(["make", "ARCH=i386", "tinyconfig"], folder)
    run(["make", "ARCH=i386", f"-j{os.cpu_count() or 1}", "prepare"], folder)
    for path in sorted(tools(folder), key=lambda path: path.suffix != ".o"):
        build_for_guest(path, folder)
    forget_outside(folder)


def tools(folder: Path) -> list[Path]:
    """What was built to run on this machine: every file that is of 64 bits."""
    return [path for path in folder.rglob("*")
            if path.is_file() and not path.is_symlink() and is_elf64(path)]


def is_elf64(path: Path) -> bool:
    with open(path, "rb") as stream:
        return stream.read(len(ELF64)) == ELF64


def build_for_guest(path: Path, folder: Path) -> None:
    """Builds a tool again by the command that built it, for i386 and static.

    kbuild's note of that command stays, so the guest's make finds the tool to be up to date.
    """
    note = path.with_name(f".{path.name}.cmd").read_text(encoding="utf-8")
    command = SAVED_COMMAND.search(note)
    if command is None:
        raise SourceError(f"{path}: no compiler's command in its .cmd file")
    run(["sh", "-c", f"{GUEST_CC} {command[1]}"], folder)


def forget_outside(folder: Path) -> None:
    """Notes of what the tools were made of name this machine's headers: the guest has others."""
    for path in folder.rglob(".*.cmd"):
        text = path.read_text(encoding="utf-8")
        path.write_text(DEPENDENCY_OUTSIDE.sub("", text), encoding="utf-8")


def run(words: list[str], folder: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC"}
    done = subprocess.run(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    if done.returncode != 0:
        raise SourceError(f"{' '.join(words)} failed:\n{done.stdout[-4000:]}")
