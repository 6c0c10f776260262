# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether the rig does what it claims of itself."""
