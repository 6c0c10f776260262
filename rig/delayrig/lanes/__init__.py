# SPDX-License-Identifier: GPL-2.0-or-later
"""The lanes: where a cell runs, and which clock it is measured by."""
