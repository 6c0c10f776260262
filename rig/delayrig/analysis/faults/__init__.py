# SPDX-License-Identifier: GPL-2.0-or-later
"""Seeded faults on the bus: what a flashrom does when its programmer misbehaves."""
