# SPDX-License-Identifier: GPL-2.0-or-later
"""Guests: their shapes, the one QEMU argument builder, and the two backends that run them."""
