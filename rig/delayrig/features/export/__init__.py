# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes finished runs in the formats of other tools."""
