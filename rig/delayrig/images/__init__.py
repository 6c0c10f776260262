# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds what guests are made of from images/recipes.toml: the kernel, the root, the subjects."""
