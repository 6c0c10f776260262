# SPDX-License-Identifier: GPL-2.0-or-later
"""One self-contained HTML page: `page.py` puts it together, `charts.py` draws on it."""
