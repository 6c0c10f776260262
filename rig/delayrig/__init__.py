# SPDX-License-Identifier: GPL-2.0-or-later
"""The flashrom delay rig: runs flashrom in guests against chips that keep their own time."""

from pathlib import Path

__version__ = Path(__file__).with_name("VERSION").read_text(encoding="ascii").strip()
"""The version of the rig and of its programs. meson and setuptools read the same file."""
