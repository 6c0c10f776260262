# SPDX-License-Identifier: GPL-2.0-or-later
"""The flashrom delay rig: runs flashrom in guests against chips that keep their own time."""

__version__ = "0.1.0"
