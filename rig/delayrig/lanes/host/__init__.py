# SPDX-License-Identifier: GPL-2.0-or-later
"""One cell on this machine, in a process of its own that nothing of it outlives.

Imports the standard library and itself alone, so that it starts at once.
"""
