# SPDX-License-Identifier: GPL-2.0-only
"""Kernels of Debian 12 as they are: fetched once, kept with checksums, without installing them."""

import gzip
import tempfile
from dataclasses import dataclass
from pathlib import Path

from vellum import ROOT  # noqa: F401  (its import makes the two below importable)

from debian_archive import Archive
from emulator.cache import cache_root, is_intact, make_folder

SUITE = "bookworm"
KERNEL = "kernel"  # the one file of a folder in the cache


@dataclass(frozen=True)
class Package:
    """Where a kernel is found; a metapackage's own is in the package that it depends on."""

    name: str
    architecture: str
    file: str      # a pattern below boot/
    real: str = ""  # how the name of the package with the file starts, if not as name


PACKAGES = {
    "linux-amd64": Package("linux-image-amd64", "amd64", "vmlinuz-*", "linux-image-6"),
    "linux-686-pae": Package("linux-image-686-pae", "i386", "vmlinuz-*", "linux-image-6"),
    "gnumach": Package("gnumach-image-1.8-486", "i386", "gnumach-*.gz"),
    "xen": Package("xen-hypervisor-4.17-amd64", "amd64", "xen-*.gz"),
    "memtest86+": Package("memtest86+", "amd64", "memtest86+x64.bin"),
}


def find_or_fetch(name: str) -> Path:
    """The kernel's path, uncompressed if it was a gzip file. ArchiveError: it can't be had."""
    folder = cache_root() / "debian-guests" / name
    if not is_intact(folder):
        make_folder(folder, lambda new: fetch(PACKAGES[name], new))
    return folder / KERNEL


def fetch(package: Package, folder: Path) -> None:
    with (Archive(SUITE, package.architecture) as archive,
          tempfile.TemporaryDirectory(prefix="vellum-guest.") as unpacked):
        start = package.real or package.name
        found = {name: version for name, version in archive.with_dependencies([package.name]).items()
                 if name.startswith(start)}
        archive.unpack(found, Path(unpacked))
        file, = Path(unpacked, "boot").glob(package.file)
        data = file.read_bytes()
    (folder / KERNEL).write_bytes(gzip.decompress(data) if file.suffix == ".gz" else data)
