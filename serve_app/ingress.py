"""The public deployment: the HTTP interface over the turn's workflow. Several replicas share the stores."""

import asyncio
from collections.abc import Mapping

from fastapi import FastAPI
from ray import serve

from configs.logs import log_as
from contracts.clock import SystemClock
from deployments.installation import Installation
from serve_app import current
from serve_app.api.app import create_api
from serve_app.api.service import PartReadiness
from serve_app.parts.remote import Handle, Handles, RemoteParts
from serve_app.workflow.service import WorkflowTurnService
from stores.records.sql_store import SqlRecordsStore
from stores.sessions.checkpoints import FencedSqliteSaver
from stores.sessions.sqlite_store import SqliteSessionStore

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
            readiness=readiness,
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


def build_api() -> FastAPI:
    """The HTTP interface; Serve calls this in each replica, after its ``__init__``."""
    return create_api(lambda: current.service, current.settings)


Ingress = serve.deployment()(serve.ingress(build_api)(IngressReplica))
