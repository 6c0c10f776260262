# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks of the rig's claims about itself."""
