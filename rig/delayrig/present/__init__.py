# SPDX-License-Identifier: GPL-2.0-or-later
"""What a person or a program reads."""
