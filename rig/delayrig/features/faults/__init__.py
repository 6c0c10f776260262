# SPDX-License-Identifier: GPL-2.0-or-later
"""Seeded faults on the bus: the reaction of a flashrom to a misbehaving programmer."""
