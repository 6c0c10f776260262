# SPDX-License-Identifier: GPL-2.0-or-later
"""The timeline of a cell's events, and the formats that viewers read."""
