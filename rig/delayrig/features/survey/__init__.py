# SPDX-License-Identifier: GPL-2.0-or-later
"""The waits that a flashrom requests: by its calls if they are visible, else by the bus."""
