# SPDX-License-Identifier: GPL-2.0-or-later
"""Figures and tables computed from the events and results of a run."""
