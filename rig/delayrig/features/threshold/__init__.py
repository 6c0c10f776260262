# SPDX-License-Identifier: GPL-2.0-or-later
"""Recommends a sleep threshold for a machine after running the same jobs with several builds."""
