# SPDX-License-Identifier: GPL-2.0-or-later
"""Formats of other tools for a run or a decision."""
