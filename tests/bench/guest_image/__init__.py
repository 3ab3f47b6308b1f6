# SPDX-License-Identifier: GPL-2.0-only
"""What the test guest's initramfs is made of, and how it is packed."""
