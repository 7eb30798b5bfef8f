"""Alembic's environment. The connection comes from :func:`stores.records.upgrade.upgrade_to_newest`."""

from alembic import context

from stores.records.tables import metadata

context.configure(connection=context.config.attributes["connection"], target_metadata=metadata)
context.run_migrations()  # within the transaction and the lock of upgrade_to_newest
