# SPDX-License-Identifier: GPL-2.0-or-later
"""What three witnesses saw of waits: the chip, the bus, the delay itself."""
