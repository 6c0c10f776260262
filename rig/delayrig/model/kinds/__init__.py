# SPDX-License-Identifier: GPL-2.0-or-later
"""Every kind of event with its keys: the one definition for writers and readers."""
