# SPDX-License-Identifier: GPL-2.0-only
"""A static i386 busybox: Debian's own package, fetched once and kept with its checksum.

apt fetches it with the system's sources and keys, but with lists of its own, so that the
system need not be told of a foreign architecture, and no root is needed.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = "busybox-static"
ARCHITECTURE = "i386"


class FetchError(Exception):
    """Why there is no busybox, and what to do about it."""


def cache_folder() -> Path:
    """Where things fetched or built once are kept."""
    named = os.environ.get("VELLUM_CACHE")
    if named:
        return Path(named) / "busybox"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "vellum" / "busybox"


def find_or_fetch() -> Path:
    """The path of busybox in the cache; fetches it if it is not there or is damaged."""
    folder = cache_folder()
    binary, checksum = folder / "busybox", folder / "busybox.sha256"
    if not is_intact(binary, checksum):
        if binary.exists():
            print(f"initramfs: {binary} is damaged, fetching it again", file=sys.stderr)
        folder.mkdir(parents=True, exist_ok=True)
        data = fetch()
        replace(checksum, hashlib.sha256(data).hexdigest().encode())
        replace(binary, data)
    return binary


def is_intact(binary: Path, checksum: Path) -> bool:
    try:
        return hashlib.sha256(binary.read_bytes()).hexdigest() == checksum.read_text()
    except FileNotFoundError:
        return False


def replace(path: Path, data: bytes) -> None:
    """Whole or not at all, also if another process does the same at this time."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as stream:
        stream.write(data)
    os.chmod(stream.name, 0o644)
    os.replace(stream.name, path)


def fetch() -> bytes:
    """Downloads the package into a folder that is gone afterwards."""
    print(f"initramfs: fetching {PACKAGE} for {ARCHITECTURE}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="vellum-busybox.") as name:
        work = Path(name)
        package = download(work)
        command(["dpkg", "-x", str(package), str(work / "unpacked")], work)
        return (work / "unpacked" / "bin" / "busybox").read_bytes()


def download(work: Path) -> Path:
    options = apt_options(work / "apt")
    # Part of the sources may be out of reach or mid-change; what counts is the package.
    updated = command(["apt-get", "-q", *options, "update"], work, must_succeed=False)
    fetched = command(["apt-get", "-q", *options, "download", f"{PACKAGE}:{ARCHITECTURE}"], work,
                      must_succeed=False)
    packages = list(work.glob("*.deb"))
    if len(packages) != 1:
        raise FetchError(f"cannot fetch {PACKAGE} for {ARCHITECTURE}; is there a network?\n"
                         "Give a static i386 busybox with --busybox (make: BUSYBOX=), or see "
                         f"what apt said:\n{updated}{fetched}")
    return packages[0]


def apt_options(root: Path) -> list[str]:
    """An apt that knows this architecture only, has no packages, and needs no root."""
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (root / folder).mkdir(parents=True)
    (root / "state" / "status").touch()
    words = (f"APT::Architecture={ARCHITECTURE}", f"APT::Architectures::={ARCHITECTURE}",
             f"Dir::State={root}/state", f"Dir::State::status={root}/state/status",
             f"Dir::Cache={root}/cache", "Debug::NoLocking=1", "APT::Sandbox::User=root")
    return [part for word in words for part in ("-o", word)]


def command(words: list[str], folder: Path, must_succeed: bool = True) -> str:
    """Runs a command; what it printed."""
    try:
        done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
    except FileNotFoundError:
        raise FetchError(f"{words[0]} is not installed; this way needs Debian or a relative. "
                         "Give a static i386 busybox with --busybox (make: BUSYBOX=)") from None
    if must_succeed and done.returncode != 0:
        raise FetchError(f"{' '.join(words)} failed:\n{done.stdout}")
    return done.stdout
