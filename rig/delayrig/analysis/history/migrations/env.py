# SPDX-License-Identifier: GPL-2.0-or-later
"""What alembic runs: the migrations, in the transaction that `migrate.py` has begun."""

from alembic import context
from delayrig.analysis.history.schema import VERSION_TABLE, Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    version_table=VERSION_TABLE,
)
context.run_migrations()
