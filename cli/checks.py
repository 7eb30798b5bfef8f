"""The checks of ``frontline doctor``: each looks at one thing and says what to do about it."""

import asyncio
import importlib.metadata
import os
import shutil
import socket
import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from packaging.requirements import Requirement

from cli.client import ClientError, FrontlineClient, ServiceUnreachableError
from configs.keys import KEY_VARIABLE, key_path, signing_key
from configs.packs.loader import load_pack
from configs.packs.types import Pack
from configs.settings import Settings, read_settings
from contracts.base import Frozen
from contracts.errors import FrontlineError

PYTHON = (3, 11)
#: All deployments of the cpu profile together stay under this.
SERVICE_MEMORY_BYTES = 3 * 1024**3
#: Compiled packs, the graph, sessions and logs of a laptop.
DISK_BYTES = 2 * 1024**3

_FAISS_BUILDS = ("faiss-cpu", "faiss-gpu-cu12")


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Check(Frozen):
    """What one check found. ``what_to_do`` is empty when all is well."""

    name: str
    level: Level
    detail: str
    what_to_do: str = ""


def all_checks(url: str) -> Iterator[Check]:
    """Every check, as each is done."""
    yield python_version(sys.version_info[:2])
    yield packages(importlib.metadata.requires)
    yield faiss_builds(_installed)
    try:
        settings = read_settings()
    except FrontlineError as error:
        yield Check(name="settings", level=Level.FAIL, detail=error.detail, what_to_do="Correct the variables.")
        return
    yield memory(psutil.virtual_memory().available)
    yield disk(_nearest_folder(settings.home))
    yield key(settings)
    yield pack(settings)
    if settings.neo4j_uri is not None:
        yield graph_server(settings)
    yield from service(url)


def python_version(running: tuple[int, ...]) -> Check:
    """Whether this is the Python that everything is locked for."""
    wanted, found = (".".join(map(str, version)) for version in (PYTHON, running))
    if tuple(running) == PYTHON:
        return Check(name="python", level=Level.OK, detail=found)
    return Check(
        name="python", level=Level.FAIL, detail=found, what_to_do=f"Make the environment anew with Python {wanted}."
    )


def packages(requires: Callable[[str], list[str] | None]) -> Check:
    """Whether what Frontline needs at run time is installed in a version that fits."""
    install = "Install it as the README says."
    try:
        lines = requires("frontline") or []
    except importlib.metadata.PackageNotFoundError:
        return Check(name="packages", level=Level.FAIL, detail="frontline is not installed here", what_to_do=install)
    wrong = []
    needed = [Requirement(line) for line in lines]
    needed = [need for need in needed if need.marker is None or need.marker.evaluate({"extra": ""})]
    for need in needed:
        version = _installed(need.name)
        if version is None:
            wrong.append(f"{need.name} is missing")
        elif not need.specifier.contains(version, prereleases=True):
            wrong.append(f"{need.name} {version} does not fit {need.specifier}")
    if wrong:
        return Check(name="packages", level=Level.FAIL, detail="; ".join(wrong), what_to_do=install)
    return Check(name="packages", level=Level.OK, detail=f"{len(needed)} needed ones are there")


def faiss_builds(installed: Callable[[str], str | None]) -> Check:
    """Exactly one of FAISS's builds: both install the same module and overwrite each other."""
    found = [f"{name} {version}" for name in _FAISS_BUILDS if (version := installed(name)) is not None]
    match found:
        case [one]:
            return Check(name="faiss", level=Level.OK, detail=one)
        case []:
            return Check(
                name="faiss",
                level=Level.FAIL,
                detail="no build is installed",
                what_to_do="Install the extra `cpu`, or `gpu` on a machine with an NVIDIA GPU.",
            )
        case _:
            return Check(
                name="faiss",
                level=Level.FAIL,
                detail=f"{' and '.join(found)} overwrite each other",
                what_to_do="Remove both (`pip uninstall faiss-cpu faiss-gpu-cu12`), then install one extra.",
            )


def memory(available_bytes: int) -> Check:
    """Whether the service fits into the memory that is free (it is part of what is used once it runs)."""
    detail = f"{_gigabytes(available_bytes)} free"
    if available_bytes >= SERVICE_MEMORY_BYTES:
        return Check(name="memory", level=Level.OK, detail=detail)
    return Check(
        name="memory",
        level=Level.WARN,
        detail=detail,
        what_to_do=f"The service takes up to {_gigabytes(SERVICE_MEMORY_BYTES)}: close something, if it isn't up yet.",
    )


def disk(folder: Path) -> Check:
    """Whether there is room for what the service keeps."""
    free_bytes = shutil.disk_usage(folder).free
    detail = f"{_gigabytes(free_bytes)} free at {folder}"
    if free_bytes >= DISK_BYTES:
        return Check(name="disk", level=Level.OK, detail=detail)
    return Check(
        name="disk",
        level=Level.WARN,
        detail=detail,
        what_to_do=f"Make room, or set FRONTLINE_HOME to a disk with {_gigabytes(DISK_BYTES)}.",
    )


def key(settings: Settings) -> Check:
    """Whether tokens can be signed. Looks only: the key is made at the first start."""
    path = key_path(settings.home)
    if KEY_VARIABLE not in os.environ and not path.exists():
        return Check(
            name="key",
            level=Level.WARN,
            detail="there is none yet",
            what_to_do="`frontline serve` or `frontline token` makes it.",
        )
    try:
        signing_key(settings.home)
    except FrontlineError as error:
        return Check(name="key", level=Level.FAIL, detail="it can't be used", what_to_do=error.detail)
    return Check(name="key", level=Level.OK, detail=KEY_VARIABLE if KEY_VARIABLE in os.environ else str(path))


def pack(settings: Settings) -> Check:
    """Whether the domain pack is valid and compiled as it now stands."""
    compile_it = f"Run `frontline domain compile {settings.pack}`; `frontline serve` does so as well."
    try:
        loaded = load_pack(settings.pack)
    except FrontlineError as error:
        first, *more = error.detail.splitlines() or [""]
        return Check(
            name="pack",
            level=Level.FAIL,
            detail=f"{first}{f' (and {len(more)} more)' if more else ''}",
            what_to_do=f"`frontline domain check {settings.pack}` lists what to correct.",
        )
    name = f"{loaded.domain.name} {loaded.domain.version}"
    if not settings.compiled(loaded.domain.name, loaded.digest).exists():
        return Check(name="pack", level=Level.WARN, detail=f"{name} is not compiled", what_to_do=compile_it)
    return Check(name="pack", level=Level.OK, detail=f"{name} is compiled and up to date")


def graph_server(settings: Settings) -> Check:
    """Whether the graph server answers, and whether it holds the pack's data."""
    name = "graph server"
    try:
        loaded = load_pack(settings.pack)
    except FrontlineError:
        return Check(
            name=name,
            level=Level.WARN,
            detail=f"{settings.neo4j_uri} was not asked, because the pack can't be read",
            what_to_do="Correct the pack first.",
        )
    try:
        detail, digest = asyncio.run(_graph_server_holds(settings, loaded))
    except FrontlineError as error:
        return Check(
            name=name,
            level=Level.FAIL,
            detail=f"{settings.neo4j_uri} can't be used: {error.detail}",
            what_to_do="Start it, or correct FRONTLINE_NEO4J_URI, …_USER, …_PASSWORD or …_DATABASE.",
        )
    if digest == loaded.digest:
        return Check(name=name, level=Level.OK, detail=f"{settings.neo4j_uri} answers. {detail}")
    return Check(
        name=name,
        level=Level.WARN,
        detail=f"{settings.neo4j_uri} answers. {detail}",
        what_to_do="If that is not wanted, `frontline graph load` loads the pack's data.",
    )


async def _graph_server_holds(settings: Settings, loaded: Pack) -> tuple[str, str | None]:
    """What the server holds, in a sentence, and the digest of its last load."""
    # Only where a server is configured its driver is loaded.
    from deployments.graph_store import holds_data, open_server, what_is_there

    store = await open_server(settings, loaded.schema_)
    try:
        if not await holds_data(store):
            return "It is empty; `frontline serve` loads the pack's data.", None
        digest = await store.loaded_digest()
        return what_is_there(digest, loaded), digest
    finally:
        await store.close()


def service(url: str) -> Iterator[Check]:
    """Whether the service answers, and how each of its parts is."""
    try:
        with FrontlineClient(url) as client:
            readiness = client.readiness()
    except ServiceUnreachableError as error:
        yield port(url, str(error))
        return
    except ClientError as error:
        yield Check(
            name="service",
            level=Level.FAIL,
            detail=str(error),
            what_to_do="See its logs in `logs` below FRONTLINE_HOME (default ~/.frontline).",
        )
        return
    yield Check(name="service", level=Level.OK, detail=f"answers at {url}")
    for name, part in readiness["parts"].items():
        yield Check(
            name=f"  {name}",
            level=Level.OK if part["ready"] else Level.FAIL,
            detail=str(part["detail"]),
            what_to_do="" if part["ready"] else "If it stays so, see its log in `logs` below FRONTLINE_HOME.",
        )


def port(url: str, reason: str) -> Check:
    """Why no service answers: it isn't started, or another program has its port."""
    address = urlsplit(url)
    number = address.port or (443 if address.scheme == "https" else 80)
    try:
        with socket.create_connection((address.hostname or "127.0.0.1", number), timeout=1):
            pass
    except OSError:
        return Check(
            name="service", level=Level.WARN, detail=f"port {number} is free", what_to_do="Start it: `frontline serve`."
        )
    return Check(
        name="service",
        level=Level.FAIL,
        detail=f"port {number} is taken by another program. {reason}",
        what_to_do="End that program, or set FRONTLINE_PORT for the service and --url here.",
    )


def _installed(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _nearest_folder(path: Path) -> Path:
    """The path, or the closest of its parents that exists."""
    return next(folder for folder in (path, *path.parents) if folder.exists())


def _gigabytes(size_bytes: int) -> str:
    return f"{size_bytes / 1024**3:.1f} GB"
