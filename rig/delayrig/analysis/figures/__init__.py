# SPDX-License-Identifier: GPL-2.0-or-later
"""What the events and results of a run amount to: pure folds, and their tables."""
