# SPDX-License-Identifier: GPL-2.0-only
"""A folder of Debian's i386 packages, unpacked and not installed, without what no board reads."""

from __future__ import annotations

import fnmatch
import os
import shutil
from pathlib import Path

from debian_archive import Archive

SUITE = "bookworm"
ARCHITECTURE = "i386"
VERSIONS = "packages.txt"  # in the root of the tree: what it was made of

# A guest unpacks all of it into RAM. Patterns of paths below the root; "*" is any text.
NOT_WANTED = (
    "boot/*", "etc/*", "var/*",
    "usr/share/doc/*", "usr/share/man/*", "usr/share/info/*", "usr/share/locale/*",
    "usr/share/lintian/*", "usr/share/bug/*", "usr/share/gdb/*", "usr/share/zoneinfo/*",
    "usr/share/i18n/*", "usr/share/perl/*/unicore/*", "usr/share/perl/*/pod/*",
    "usr/lib/locale/*", "usr/lib/systemd/*", "lib/systemd/*", "usr/lib/*/gconv/*",
    "usr/lib/gcc/*/lto1", "usr/lib/gcc/*/lto-wrapper", "usr/lib/gcc/*/g++-mapper-server",
    "usr/lib/gcc/*san*", "usr/lib/*/lib?san.*", "usr/lib/*/libgprofng*", "usr/bin/*gprofng*",
    "usr/bin/*-lto-dump*", "usr/bin/*-gold", "usr/bin/*-dwp", "usr/bin/*gcov*",
    "usr/lib/*/libc.a", "usr/lib/*/libm-*.a", "usr/lib/*/libmvec.a",
)

# What the packages' own scripts would have linked.
LINKS = {"usr/bin/awk": "mawk"}


def make(packages: list[str], folder: Path) -> None:
    """Fetches packages with all that they need; ArchiveError says why that is impossible."""
    with Archive(SUITE, ARCHITECTURE) as archive:
        versions = archive.with_dependencies(packages)
        archive.unpack(versions, folder)
    prune(folder)
    complete(folder)
    lines = sorted(f"{name} {version}\n" for name, version in versions.items())
    (folder / VERSIONS).write_text("".join(lines), encoding="ascii")


def is_wanted(path: str) -> bool:
    """Of a path below the root, without a slash before it."""
    return not any(fnmatch.fnmatchcase(path, pattern) for pattern in NOT_WANTED)


def prune(folder: Path) -> None:
    """Removes what is not wanted."""
    for parent, folders, files in os.walk(folder):
        below = Path(parent).relative_to(folder)
        for name in files:
            if not is_wanted(str(below / name)):
                os.unlink(Path(parent, name))
        for name in [name for name in folders if not is_wanted(str(below / name))]:
            folders.remove(name)
            remove(Path(parent, name))


def remove(path: Path) -> None:
    """A folder, or a link to one."""
    if path.is_symlink():
        path.unlink()
    else:
        shutil.rmtree(path)


def complete(folder: Path) -> None:
    """What an installation would have added: links and one user."""
    for path, target in LINKS.items():
        place = folder / path
        if (place.parent / target).exists() and not place.is_symlink():
            place.symlink_to(target)
    (folder / "etc").mkdir(exist_ok=True)
    (folder / "etc" / "passwd").write_text("root:x:0:0:root:/:/bin/sh\n", encoding="ascii")
