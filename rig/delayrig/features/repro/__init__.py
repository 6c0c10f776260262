# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs one cell again, exactly: watched, with a shell before its subject, or under gdb."""
