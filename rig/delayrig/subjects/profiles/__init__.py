# SPDX-License-Identifier: GPL-2.0-or-later
"""Subject profiles: the known waits of each flashrom."""
