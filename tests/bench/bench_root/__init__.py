# SPDX-License-Identifier: GPL-2.0-only
"""The root file systems of the boards that run Debian's programs, and how they are made."""
