# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole documents, gates, and what two cells must share for their times to be compared.

Runs that are there already keep nulls in what is new: nobody knows it of them any more.
"""

import sqlalchemy as sa
from alembic import op

revision = "r0002"
down_revision = "r0001"

NUMBERS = (
    *("cores", "region_bytes", "chip_busy_ns", "overshoot_ns", "transfers", "context_switches"),
)


def upgrade() -> None:
    """From r0001."""
    op.add_column("rig_run", sa.Column("results_sha256", sa.Text))
    op.create_index("ix_rig_run_results_sha256", "rig_run", ["results_sha256"], unique=True)
    op.add_column("rig_cell", sa.Column("mips", sa.Double))
    for name in NUMBERS:
        op.add_column("rig_cell", sa.Column(name, sa.BigInteger))
    for name in ("events_sha256", "inputs_sha256"):
        op.add_column("rig_cell", sa.Column(name, sa.Text))
    op.create_table("rig_document", _run(), sa.Column("content", sa.LargeBinary, nullable=False))
    op.create_table(
        "rig_gate",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "rig_gate_run",
        _run(),
        sa.Column(
            "gate", sa.Integer, sa.ForeignKey("rig_gate.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("side", sa.Text, nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
    )


def _run() -> sa.Column[int]:
    return sa.Column(
        "run", sa.Integer, sa.ForeignKey("rig_run.id", ondelete="CASCADE"), primary_key=True
    )
