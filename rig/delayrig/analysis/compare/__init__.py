# SPDX-License-Identifier: GPL-2.0-or-later
"""Two runs beside each other."""
