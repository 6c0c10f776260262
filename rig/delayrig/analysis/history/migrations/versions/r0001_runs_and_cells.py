# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs, and the verdict and the times of each of their cells."""

import sqlalchemy as sa
from alembic import op

revision = "r0001"
down_revision = None

TEXTS = (
    *("cell", "subject", "subject_version", "subject_sha256", "lane", "role", "arch", "hazards"),
    *("chip", "corner", "programmer", "witness", "job", "verdict", "expect"),
)


def upgrade() -> None:
    """From an empty database."""
    op.create_table(
        "rig_run",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("started", sa.Text, nullable=False, index=True),
        *(
            sa.Column(name, sa.Text, nullable=False)
            for name in (
                "plan",
                "lane",
                "seed",
                "rig_version",
                "rig_commit",
                "qemu_version",
                "host",
            )
        ),
        sa.Column("cells_planned", sa.BigInteger, nullable=False),
        sa.Column("interrupted", sa.Boolean, nullable=False),
        sa.Column("exit_code", sa.BigInteger, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "rig_cell",
        sa.Column(
            "run", sa.Integer, sa.ForeignKey("rig_run.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in TEXTS),
        *(
            sa.Column(name, sa.BigInteger, nullable=False)
            for name in ("total_ns", "user_ns", "sys_ns")
        ),
    )
    op.create_index("ix_rig_cell_subject_cell", "rig_cell", ["subject", "cell"])
