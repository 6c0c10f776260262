# SPDX-License-Identifier: GPL-2.0-or-later
"""Finds the delay sites of a program that cells reached, and those that a change touched."""
