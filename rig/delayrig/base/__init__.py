# SPDX-License-Identifier: GPL-2.0-or-later
"""The base of all other packages: files, digests, errors, processes, text."""
