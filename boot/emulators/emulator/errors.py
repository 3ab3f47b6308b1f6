# SPDX-License-Identifier: GPL-2.0-only
"""What goes wrong before a machine runs."""


class EmulatorError(Exception):
    """A machine that cannot be built as described; the message says why, for the user."""
