# SPDX-License-Identifier: GPL-2.0-or-later
"""Computations on finished runs, and commands that make several runs."""
