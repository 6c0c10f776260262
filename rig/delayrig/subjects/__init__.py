# SPDX-License-Identifier: GPL-2.0-or-later
"""Builds the parts of guests from images/recipes.toml: the kernel, the root, the subjects."""
