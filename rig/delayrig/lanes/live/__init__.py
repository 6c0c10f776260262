# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of a cell in a guest in real time: agent, emulator, machine, and speed of the cores."""
