# SPDX-License-Identifier: GPL-2.0-or-later
"""The history of runs: a database that every run is kept in, and what can be asked of it."""
