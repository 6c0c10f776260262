# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one cell on this machine, in a process that outlives all of its children.

It imports only the standard library, `delayrig.base` and itself, so that it starts at once.
"""
