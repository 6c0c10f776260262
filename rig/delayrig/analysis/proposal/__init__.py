# SPDX-License-Identifier: GPL-2.0-or-later
"""The proposal's changes, step by step: from a run of plan `proposal` to figures and advice."""
