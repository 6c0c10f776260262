# SPDX-License-Identifier: GPL-2.0-or-later
"""Prepares images, and exports them for other machines."""
