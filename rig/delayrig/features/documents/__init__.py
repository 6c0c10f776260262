# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes generated documents and measures the figures that documents quote."""
