# SPDX-License-Identifier: GPL-2.0-or-later
"""The subjects and other parts of guests: how they are fetched, built, packed and analysed."""
