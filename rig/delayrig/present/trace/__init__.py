# SPDX-License-Identifier: GPL-2.0-or-later
"""Events as something to look at: a timeline, and the formats that viewers read."""
