# SPDX-License-Identifier: GPL-2.0-only
"""The boards whose rows are commands run in the guest: commands.toml, and what is made of it."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from .rows import Row

SCALES = ("quick", "full")
PROCESSORS = (1, 2)           # a machine has one of these numbers
PROGRAM = "vellum-commands"   # of the guest, which runs a list


@dataclass(frozen=True)
class Command:
    """A row: what is timed, and what comes before."""

    name: str
    iteration: str            # what the command does, once
    command: str              # for the guest's shell
    cpus: int = 0             # a row for machines of so many processors only; 0: for all


@dataclass(frozen=True)
class CommandBoard:
    """A board of commands and the root file system that has their programs."""

    name: str
    packages: tuple[str, ...]
    linux: bool               # the kernel's source is in /linux
    files: tuple[str, ...]    # of tests/bench/commands, for the guest's root
    before: str               # what is run before each row and not timed
    words: dict[str, dict[str, str]]  # by scale: what {word} in commands stands for
    rows: tuple[Command, ...]

    def rows_for(self, cpus: int) -> tuple[Row, ...]:
        return tuple(Row(row.name, row.iteration) for row in self.commands_for(cpus))

    def commands_for(self, cpus: int) -> list[Command]:
        """None for a number of processors that there is no list for."""
        return [row for row in self.rows
                if cpus in PROCESSORS and row.cpus in (0, cpus)]


@cache
def boards() -> dict[str, CommandBoard]:
    with open(Path(__file__).parent / "commands.toml", "rb") as stream:
        return {name: board_from(name, data) for name, data in tomllib.load(stream).items()}


def board_from(name: str, data: dict) -> CommandBoard:
    return CommandBoard(name, tuple(data["packages"]), data.get("linux", False),
                        tuple(data.get("files", ())), data.get("before", "true"),
                        {scale: data.get(scale, {}) for scale in SCALES},
                        tuple(Command(**row) for row in data["rows"]))


def list_name(scale: str, cpus: int) -> str:
    return f"commands-{scale}-{cpus}"


def list_text(board: CommandBoard, scale: str, cpus: int) -> str:
    """A line for each row: name, what comes before, command; tabs between them."""
    return "".join("\t".join([row.name, board.before,
                              filled(board, scale, row.command)]) + "\n"
                   for row in board.commands_for(cpus))


def filled(board: CommandBoard, scale: str, text: str) -> str:
    for word, meaning in board.words[scale].items():
        text = text.replace("{" + word + "}", meaning)
    return text


def guest_words(scale: str, cpus: int) -> str:
    """For the kernel's command line: what /init runs."""
    return f"vellum.run={PROGRAM},/{list_name(scale, cpus)}"
