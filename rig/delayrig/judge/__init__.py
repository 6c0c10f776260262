# SPDX-License-Identifier: GPL-2.0-or-later
"""From what was seen to a verdict, and from verdicts to an exit code."""
