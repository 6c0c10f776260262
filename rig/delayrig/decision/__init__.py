# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers from two runs together, such as a gate's decision; and the choice of a cell."""
