# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests: QEMU's arguments, snapshots, and the two backends that run QEMU."""
