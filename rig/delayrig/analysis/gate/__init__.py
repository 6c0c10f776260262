# SPDX-License-Identifier: GPL-2.0-or-later
"""May a change go in? From the runs of a baseline and of a candidate to a decision."""
