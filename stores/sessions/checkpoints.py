"""LangGraph's checkpoints in SQLite, written only by the holder of the session's lease."""

import asyncio
import importlib
import pkgutil
import sqlite3
from collections.abc import Coroutine, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Self, TypeVar

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

import contracts
from contracts.base import Frozen
from contracts.errors import LeaseLostError, StoreError
from contracts.sessions import Lease, SessionStore

Result = TypeVar("Result")

#: The key of ``config["configurable"]`` under which a run carries its :class:`contracts.sessions.Lease`.
LEASE_KEY = "lease"


class FencedSqliteSaver(AsyncSqliteSaver):
    """Checkpoints of running turns, one thread a turn; who lost the session's lease writes nothing more.

    A run names its lease in ``config["configurable"]["lease"]``. Writes raise ``LeaseLostError`` when it is
    missing or no longer the session's newest, and ``StoreError`` when the file refuses.
    """

    def __init__(self, connection: aiosqlite.Connection, sessions: SessionStore) -> None:
        super().__init__(connection, serde=JsonPlusSerializer(allowed_msgpack_modules=contract_types()))
        self._sessions = sessions

    @classmethod
    async def open(cls, path: Path | str, *, sessions: SessionStore) -> Self:
        """Open or create the file, best not the session store's own. ``sessions`` knows whose lease is valid."""
        path = Path(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=0o600)  # customers' words: for this user alone
            connection = await aiosqlite.connect(path)
            try:
                saver = cls(connection, sessions)
                await saver.setup()
                # With the write-ahead log this outlives the death of the process, and a power cut takes at most
                # the last steps of turns that then run again: not worth a disk flush a node.
                await connection.execute("PRAGMA synchronous = NORMAL")
            except BaseException:
                await connection.close()
                raise
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{path.name} can't be opened: {error}") from error
        return saver

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Save a checkpoint of the lease's holder. Raises ``LeaseLostError`` or ``StoreError``."""
        await self._require_lease(config)
        return await _whole(super().aput(config, checkpoint, metadata, new_versions))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Save a node's writes by the lease's holder. Raises ``LeaseLostError`` or ``StoreError``."""
        await self._require_lease(config)
        await _whole(super().aput_writes(config, writes, task_id, task_path))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """The thread's latest checkpoint, or the one that ``config`` names. Raises ``StoreError``."""
        return await _whole(super().aget_tuple(config))

    async def prune(self, thread_id: str) -> None:  # type: ignore[override]  # ours, in the place of a sync one
        """Delete the checkpoints of an answered turn. Raises ``StoreError``."""
        await _whole(self.adelete_thread(thread_id))

    async def close(self) -> None:
        """Close the file; a second call does nothing."""
        await self.conn.close()

    async def _require_lease(self, config: RunnableConfig) -> None:
        lease = config.get("configurable", {}).get(LEASE_KEY)
        if not isinstance(lease, Lease):
            raise LeaseLostError("the run names no lease, so it may not write checkpoints")
        await self._sessions.check_lease(lease)


def contract_types() -> tuple[tuple[str, str], ...]:
    """Module and name of every value type and enumeration in ``contracts``: all that a checkpoint may revive."""
    found: set[tuple[str, str]] = set()
    for module_info in pkgutil.iter_modules(contracts.__path__, prefix="contracts."):
        for value in vars(importlib.import_module(module_info.name)).values():
            if (
                isinstance(value, type)
                and issubclass(value, Frozen | Enum)
                and value.__module__.startswith("contracts.")
            ):
                found.add((value.__module__, value.__name__))
    return tuple(sorted(found))


async def _whole(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a statement and its commit to their end even when the caller is cancelled in between.

    The library would otherwise leave a transaction open on the shared connection, and the file locked.
    """
    try:
        return await asyncio.shield(asyncio.ensure_future(work))
    except sqlite3.Error as error:
        raise StoreError("the checkpoints could not be read or written") from error
