# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells on several machines: Dask schedules them; what a task is, is ours."""

WORKERS_ARE_FORKS = "forkserver"
"""Of one process that has loaded it all: each would need more than a second for that."""
