# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns observations into a verdict, and verdicts into an exit code."""
