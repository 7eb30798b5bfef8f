"""The public deployment: the HTTP interface over the turn's workflow. Several replicas share the stores."""

import asyncio
import uuid
from collections.abc import Mapping

from fastapi import FastAPI
from ray import serve

from configs.logs import log_as
from contracts.clock import Deadline, SystemClock
from contracts.context import CallContext
from contracts.errors import FrontlineError
from contracts.principal import Principal, PrincipalKind
from deployments.calls import Backend
from deployments.cypher import CypherReplica
from deployments.installation import Installation
from serve_app import current
from serve_app.api.app import create_api
from serve_app.api.service import PartReadiness
from serve_app.parts.remote import Handle, Handles, RemoteParts
from serve_app.workflow.service import WorkflowTurnService
from stores.records.sql_store import SqlRecordsStore
from stores.sessions.checkpoints import FencedSqliteSaver
from stores.sessions.sqlite_store import SqliteSessionStore

#: A trivial read takes a few ms; a readiness probe gives up after a few seconds itself.
_SERVER_ANSWERS_WITHIN_MS = 2_000

#: Serve's names of the states in which a deployment that has a running replica works.
_UP = ("HEALTHY", "UPSCALING", "DOWNSCALING")


class IngressReplica:
    """Opens the stores and joins them with the deployments into a :class:`WorkflowTurnService`."""

    async def __init__(  # type: ignore[misc]  # Serve awaits it
        self,
        installation: Installation,
        router: Handle,
        planner: Handle,
        cypher: Handle,
        search: Handle,
        summarizer: Handle,
    ) -> None:
        settings = installation.settings
        log_as("ingress", settings)
        sessions = await SqliteSessionStore.open(settings.sessions_path)
        saver = await FencedSqliteSaver.open(settings.checkpoints_path, sessions=sessions)
        records = await SqlRecordsStore.open(settings.records_url)
        self._stores = (saver, sessions, records)
        current.settings = settings
        current.service = WorkflowTurnService(
            sessions=sessions,
            saver=saver,
            records=records,
            parts=RemoteParts(Handles(router, planner, cypher, search, summarizer), settings.budgets),
            pack=installation.pack(),
            budgets=settings.budgets,
            clock=SystemClock(),
            readiness=readiness if settings.neo4j_uri is None else GraphServerReadiness(cypher),
        )

    async def __del__(self) -> None:
        for store in getattr(self, "_stores", ()):
            await store.close()


async def readiness() -> Mapping[str, PartReadiness]:
    """Each deployment of this application, as Serve's controller knows it."""
    app_name = serve.get_replica_context().app_name
    status = await asyncio.to_thread(serve.status)
    application = status.applications[app_name]
    parts: dict[str, PartReadiness] = {
        name: {
            "ready": deployment.status.value in _UP
            and any(state == "RUNNING" and count for state, count in deployment.replica_states.items()),
            "detail": ", ".join(
                f"{count} {state.lower()}" for state, count in sorted(deployment.replica_states.items())
            ),
        }
        for name, deployment in application.deployments.items()
    }
    return parts


class GraphServerReadiness:
    """Each deployment's readiness, and that of the graph server behind one of them.

    The server is no part of the cluster: its executor runs on without it, and must not be restarted for it.
    """

    def __init__(self, cypher: Handle) -> None:
        # A breaker of its own: what readiness finds out says nothing about the turns' calls.
        self._cypher = Backend("cypher executor", cypher, CypherReplica, cap_ms=_SERVER_ANSWERS_WITHIN_MS)
        self._asker = Principal(kind=PrincipalKind.ADMIN, subject="readiness")

    async def __call__(self) -> Mapping[str, PartReadiness]:
        parts = dict(await readiness())
        asked = uuid.uuid4().hex
        ctx = CallContext(
            request_id=asked,
            turn_id=asked,
            session_id=asked,
            principal=self._asker,
            budget_ms=_SERVER_ANSWERS_WITHIN_MS,
        )
        try:
            ready = bool(await self._cypher.call("graph_ready", ctx, Deadline(ctx.budget_ms)))
        except FrontlineError:
            ready = False
        detail = "the server answers" if ready else "the server does not answer; what needs the graph is not answered"
        return {**parts, "graph": {"ready": ready, "detail": detail}}


def build_api() -> FastAPI:
    """The HTTP interface; Serve calls this in each replica, after its ``__init__``."""
    return create_api(lambda: current.service, current.settings)


Ingress = serve.deployment()(serve.ingress(build_api)(IngressReplica))
