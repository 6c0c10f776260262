# SPDX-License-Identifier: GPL-2.0-or-later
"""Puts our delay layer into a user's flashrom tree: the places, the steps, and the results."""
