# SPDX-License-Identifier: GPL-2.0-or-later
"""A run: which cells, in which order, with what; and going on with one that was cut off."""
