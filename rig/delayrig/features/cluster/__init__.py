# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts workers and a scheduler of a cluster."""
