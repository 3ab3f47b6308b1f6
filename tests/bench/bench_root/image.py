# SPDX-License-Identifier: GPL-2.0-only
"""A board's root file system: Debian's programs, and the kernel's source if it compiles that.

It is made once and kept, with its checksum, under a name made of all that decides what is in
it. The guest gets it as an initramfs, so that it is in RAM when the board begins: a disk's
answers come when the computer that emulates it has them, and no count would repeat.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
import tempfile
from pathlib import Path

from emulator.cache import cache_root, is_intact, make_folder
from guest_image.cpio import Archive

from . import debian_tree, linux_tree

IMAGE = "root.cpio"
LINUX = "linux"          # where the kernel's source is in the guest's root


def find_or_make(packages: list[str], with_linux: bool) -> Path:
    """The image's path. ArchiveError, SourceError: why it cannot be made."""
    folder = cache_root() / "bench-root" / name_for(packages, with_linux)
    if not is_intact(folder):
        make_folder(folder, lambda new: make(packages, with_linux, new))
    return folder / IMAGE


def name_for(packages: list[str], with_linux: bool) -> str:
    """Of everything that is known before packages are fetched."""
    digest = hashlib.sha256(" ".join([debian_tree.SUITE, *sorted(packages)]).encode())
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    if with_linux:
        with open(linux_tree.tarball(), "rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
        digest.update(compiler_version())
    return digest.hexdigest()[:16]


def compiler_version() -> bytes:
    return subprocess.run(["gcc", "--version"], stdout=subprocess.PIPE, check=True).stdout


def make(packages: list[str], with_linux: bool, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="root.") as name:
        root = Path(name)
        debian_tree.make(packages, root)
        if with_linux:
            linux_tree.make(root / LINUX)
        (folder / IMAGE).write_bytes(archive_of(root).to_bytes())
        (folder / debian_tree.VERSIONS).write_bytes((root / debian_tree.VERSIONS).read_bytes())


def archive_of(root: Path) -> Archive:
    """Everything below a folder: contents, links, and who may execute."""
    archive = Archive()
    for parent, folders, files in os.walk(root):
        below = Path(parent).relative_to(root)
        for name in [*folders, *files]:
            add(archive, str(below / name), Path(parent, name))
    return archive


def add(archive: Archive, path: str, source: Path) -> None:
    mode = source.lstat().st_mode
    if stat.S_ISLNK(mode):
        archive.add_link(path, os.readlink(source))
    elif stat.S_ISDIR(mode):
        archive.add_folder(path)
    elif stat.S_ISREG(mode):
        archive.add_file(path, source.read_bytes(), executable=bool(mode & stat.S_IXUSR))
