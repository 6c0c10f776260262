# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs and answers in a terminal, with a module for each."""
