# SPDX-License-Identifier: GPL-2.0-or-later
"""Subject profiles: the waits that each flashrom is known to make."""
