# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests: their shapes, the builder of QEMU's arguments, and the two backends that run them."""
