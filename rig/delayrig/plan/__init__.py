# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans: the shipped ones, and how the words of a plan become cells."""
