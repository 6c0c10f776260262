# SPDX-License-Identifier: GPL-2.0-or-later
"""`rig/rig find`: a cell in which a flashrom shows the symptom that a user saw."""
