#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Fills in the two checksums of an option ROM, which an assembler cannot sum up.

usage: seal.py ASSEMBLED SEALED

The bytes of the PnP expansion header sum up to 0, modulo 256, and so do those of the
whole image. The hypervisor does the second again after it has changed its copy.
"""
import pathlib
import sys

ROM_CHECKSUM = 0x07     # a pad byte to VMI
PNP_POINTER = 0x1A
PNP_LENGTH = 5          # in the PnP header, in units of 16 bytes
PNP_CHECKSUM = 9


def seal(rom, start, length, checksum):
    rom[checksum] = 0
    rom[checksum] = -sum(rom[start:start + length]) % 256


def main(assembled, sealed):
    rom = bytearray(pathlib.Path(assembled).read_bytes())
    pnp = int.from_bytes(rom[PNP_POINTER:PNP_POINTER + 2], "little")
    seal(rom, pnp, rom[pnp + PNP_LENGTH] * 16, pnp + PNP_CHECKSUM)
    seal(rom, 0, len(rom), ROM_CHECKSUM)
    pathlib.Path(sealed).write_bytes(rom)


if __name__ == "__main__":
    main(*sys.argv[1:])
