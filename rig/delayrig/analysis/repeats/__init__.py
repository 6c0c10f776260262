# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells run again until their times are known well enough. Verdicts are counted, never averaged."""
