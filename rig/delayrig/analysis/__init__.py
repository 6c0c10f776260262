# SPDX-License-Identifier: GPL-2.0-or-later
"""Folds over finished runs, and what drives several of them."""
