# SPDX-License-Identifier: GPL-2.0-or-later
"""The shipped plans, and the code that makes cells from a plan."""
