# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers of two runs together: the decision of a gate, differences, the cell that is meant."""
