# SPDX-License-Identifier: GPL-2.0-or-later
"""One cell on this machine, in a process of its own that outlives all of its children.

It imports only the standard library and itself, so that it starts at once.
"""
