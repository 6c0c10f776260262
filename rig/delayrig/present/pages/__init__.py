# SPDX-License-Identifier: GPL-2.0-or-later
"""One self-contained HTML page: `page.py` composes it, `charts.py` draws its charts."""
