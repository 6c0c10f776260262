# SPDX-License-Identifier: GPL-2.0-or-later
"""Which waits a flashrom asks for: by its calls where they can be seen, by the bus elsewhere."""
