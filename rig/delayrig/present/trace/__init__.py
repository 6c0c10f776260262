# SPDX-License-Identifier: GPL-2.0-or-later
"""Events made visible: a timeline, and the formats that viewers read."""
