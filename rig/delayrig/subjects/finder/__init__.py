# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds delay functions, also in stripped programs, by reading the code."""
