# SPDX-License-Identifier: GPL-2.0-or-later
"""Turns chips/*.toml into the constant table of parts that the model is built with."""
