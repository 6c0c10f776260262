# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes, checks and hands over images."""
