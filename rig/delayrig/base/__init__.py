# SPDX-License-Identifier: GPL-2.0-or-later
"""The base of every room: files, digests, errors, durations as text."""
