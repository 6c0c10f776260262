# SPDX-License-Identifier: GPL-2.0-or-later
"""Which sleep threshold suits a machine: builds, the same jobs with each, and a recommendation."""
