# SPDX-License-Identifier: GPL-2.0-or-later
"""The gate: a decision on a change, from the runs of a baseline and of a candidate."""
