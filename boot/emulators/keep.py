# SPDX-License-Identifier: GPL-2.0-only
"""Fetches a program of a newer Debian into Vellum's cache: for fetch-bochs and fetch-qemu."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from debian_archive import Archive, ArchiveError
from emulator import EmulatorError
from emulator.cache import is_intact, make_folder
from emulator.kept import LINKER, Kept


def unpack(kept: Kept, wanted: re.Pattern, tree: Path) -> None:
    """Of what the packages depend on, only the wanted ones: no desktop, no services."""
    with Archive(kept.suite, kept.architecture) as archive:
        packages = archive.with_dependencies(kept.packages)
        archive.unpack({name: version for name, version in packages.items()
                        if wanted.match(name)}, tree)


def libraries_in(tree: Path) -> Path:
    return tree / "usr" / "lib" / "x86_64-linux-gnu"


def pick(tree: Path, target: Path, program: str, *plugins: Path) -> None:
    """Copies a program, and every library that it or its plugins load."""
    libraries, binary = libraries_in(tree), tree / "usr" / "bin" / program
    for folder in ("bin", "lib"):
        (target / folder).mkdir()
    shutil.copy(binary, target / "bin")
    for library in loaded_by(libraries, binary, *plugins):
        shutil.copy(library, target / "lib")
    shutil.copy(libraries / LINKER, target / "lib")


def loaded_by(libraries: Path, *programs: Path) -> set[Path]:
    """The libraries that the unpacked dynamic linker would load for these programs."""
    found = set()
    for program in programs:
        done = subprocess.run([libraries / LINKER, "--library-path", libraries, "--list", program],
                              capture_output=True, text=True, check=False)
        found |= set(re.findall(r" => (/\S+)", done.stdout))
    outside = [path for path in found if not path.startswith(str(libraries))]
    if outside or not found:
        raise ArchiveError(f"the packages lack libraries of {programs[0].name}: "
                           f"{done.stdout}{done.stderr}")
    return {Path(path) for path in found}


def keep(kept: Kept, fill: Callable[[Path, Path], None], check: Callable[[Path], None]) -> None:
    """Does nothing if the folder is whole. fill(tree, target) takes what is needed out of the
    unpacked packages and check(target) raises ArchiveError if that does not start."""
    folder, title = kept.folder(), f"{kept.name} of Debian {kept.suite}"
    if is_intact(folder):
        return
    if folder.exists():
        print(f"{program_name()}: {folder} is damaged", flush=True)
    print(f"{program_name()}: fetching {title} (about 100 MB)", flush=True)

    def fetch(target: Path) -> None:
        with tempfile.TemporaryDirectory(prefix="vellum-keep.") as name:
            fill(Path(name), target)
        check(target)
    make_folder(folder, fetch)
    print(f"{program_name()}: it is in {folder}")


def program_name() -> str:
    return Path(sys.argv[0]).name


def main(action: Callable[[], None]) -> None:
    try:
        action()
    except (ArchiveError, EmulatorError, OSError) as error:
        sys.exit(f"{program_name()}: error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
