# SPDX-License-Identifier: GPL-2.0-or-later
"""Plans: the shipped ones, and how a plan's words become cells."""
