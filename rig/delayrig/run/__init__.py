# SPDX-License-Identifier: GPL-2.0-or-later
"""A run: its cells, their order and inputs, and resuming an interrupted run."""
