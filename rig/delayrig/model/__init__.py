# SPDX-License-Identifier: GPL-2.0-or-later
"""The nouns: cells, results, events and their parts."""
