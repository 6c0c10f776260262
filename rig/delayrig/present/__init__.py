# SPDX-License-Identifier: GPL-2.0-or-later
"""Everything that a person or another program reads."""
