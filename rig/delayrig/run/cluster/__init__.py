# SPDX-License-Identifier: GPL-2.0-or-later
"""Cells on several machines. Dask schedules them; the tasks are ours."""

WORKERS_ARE_FORKS = "forkserver"
"""Workers are forks of one process that has loaded everything, which takes more than a second."""
