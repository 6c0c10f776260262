# SPDX-License-Identifier: GPL-2.0-or-later
"""What every room stands on: files, digests, errors, times as words."""
