# SPDX-License-Identifier: GPL-2.0-or-later
"""The history of runs: a database that keeps every run, and queries of it."""
