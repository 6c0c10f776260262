# SPDX-License-Identifier: GPL-2.0-or-later
"""The proposal's changes, step by step: figures and advice from a run of plan `proposal`."""
