# SPDX-License-Identifier: GPL-2.0-or-later
"""Everything that is done with runs: one feature, one folder."""
