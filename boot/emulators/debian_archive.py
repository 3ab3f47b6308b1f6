# SPDX-License-Identifier: GPL-2.0-only
"""Takes packages of another Debian release or architecture, without installing them.

apt fetches them from the system's own mirror and checks Debian's signature, but with
sources, lists and a cache of its own: the system's apt learns nothing of it, and no root
is needed.

    with Archive("trixie", "amd64") as archive:
        archive.unpack(archive.with_dependencies(["bochs"]), folder)
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
COMPONENT = "main"

# What a source of the distribution itself may be called, beside the release's code name.
GENERIC_SUITES = ("stable", "oldstable", "testing", "unstable", "sid")


class ArchiveError(Exception):
    """Why packages cannot be had; the message is for the user."""


class Archive:
    """One Debian release for one architecture. Use it in a "with" statement."""

    def __init__(self, suite: str, architecture: str):
        self.suite = suite
        self.architecture = architecture

    def __enter__(self) -> Archive:
        sources = source_lines(system_mirrors(), self.suite, self.architecture)
        self.folder = tempfile.TemporaryDirectory(prefix="vellum-apt.")
        self.options = private_options(Path(self.folder.name), sources, self.architecture)
        # A source may be out of reach or lack this release; what counts is the packages.
        self.update_said = self.apt("update")
        return self

    def __exit__(self, *_exception) -> None:
        self.folder.cleanup()

    def apt(self, *words: str) -> str:
        """What apt-get said, whether it failed or not."""
        return run(["apt-get", "-q", *self.options, *words], self.folder.name).stdout

    def with_dependencies(self, names: Iterable[str]) -> dict[str, str]:
        """The packages and all that they need, name to version."""
        names = list(names)
        said = self.apt("install", "--simulate", "--no-install-recommends", *names)
        found = dict(re.findall(r"^Inst (\S+) \((\S+) ", said, re.MULTILINE))
        if not set(names) <= set(found):
            raise self.error(names, said)
        return found

    def unpack(self, packages: dict[str, str], target: Path) -> None:
        """Downloads packages and unpacks their files, all into one folder."""
        said = self.apt("download", *(f"{name}={version}" for name, version in packages.items()))
        files = sorted(Path(self.folder.name).glob("*.deb"))
        if len(files) != len(packages):
            raise self.error(packages, said)
        for file in files:
            done = run(["dpkg", "-x", str(file), str(target)], self.folder.name)
            if done.returncode != 0:
                raise ArchiveError(f"cannot unpack {file.name}: {done.stdout}")
            file.unlink()

    def error(self, names: Iterable[str], said: str) -> ArchiveError:
        return ArchiveError(f"cannot fetch {', '.join(names)} of Debian {self.suite}; "
                            f"is there a network? apt said:\n{self.update_said}{said}".rstrip())


def system_mirrors() -> list[str]:
    """Where this system's own sources have their distribution from."""
    suites = {platform.freedesktop_os_release().get("VERSION_CODENAME"), *GENERIC_SUITES}
    said = run(["apt-get", "--print-uris", "update"], "/").stdout
    found = re.findall(r"^'(\S+)/dists/([^/\s]+)/InRelease' ", said, re.MULTILINE)
    mirrors = list(dict.fromkeys(base for base, suite in found if suite in suites))
    if not mirrors:
        raise ArchiveError("this system's apt sources name no Debian mirror to fetch from")
    return mirrors


def source_lines(mirrors: Iterable[str], suite: str, architecture: str) -> str:
    """A sources.list. The signature sorts out a mirror that is not Debian's."""
    if not KEYRING.is_file():
        raise ArchiveError(f"no {KEYRING}; the package debian-archive-keyring has it")
    options = f"arch={architecture} signed-by={KEYRING}"
    return "".join(f"deb [{options}] {mirror} {suite} {COMPONENT}\n" for mirror in mirrors)


def private_options(root: Path, sources: str, architecture: str) -> list[str]:
    """An apt in this folder that knows these sources only and sees no package installed."""
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (root / folder).mkdir(parents=True)
    (root / "status").touch()
    (root / "sources.list").write_text(sources, encoding="ascii")
    words = (f"APT::Architecture={architecture}", f"APT::Architectures::={architecture}",
             f"Dir::State={root}/state", f"Dir::State::status={root}/status",
             f"Dir::Cache={root}/cache", f"Dir::Etc::sourcelist={root}/sources.list",
             "Dir::Etc::sourceparts=/dev/null", "Dir::Etc::preferences=/dev/null",
             "Dir::Etc::preferencesparts=/dev/null", "Acquire::Languages=none",
             "Acquire::Retries=2", "Debug::NoLocking=1", "APT::Sandbox::User=root")
    return [part for word in words for part in ("-o", word)]


def run(words: list[str], folder: str) -> subprocess.CompletedProcess:
    """Runs a command; what it printed is in stdout."""
    try:
        return subprocess.run(words, cwd=folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False,
                              env={**os.environ, "LC_ALL": "C"})
    except FileNotFoundError:
        raise ArchiveError(f"{words[0]} is not installed; "
                           "this way needs Debian or a relative") from None
