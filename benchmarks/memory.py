"""The memory of the service's processes, by deployment."""

import contextlib
import os
import re
from collections import defaultdict
from dataclasses import dataclass

import psutil

_REPLICA = re.compile(r"ray::ServeReplica:frontline:(\w+)")


@dataclass(frozen=True)
class PartMemory:
    """``pss_mb`` counts a page that n processes share as 1/n in each, ``rss_mb`` as a whole one in each."""

    name: str
    processes: int
    pss_mb: float
    rss_mb: float


def memory_by_part() -> list[PartMemory]:
    """The replicas by deployment, and Ray's and Serve's own processes; this process is left out."""
    sizes: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for process in psutil.Process(os.getpid()).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            title = " ".join(process.cmdline())
            replica = _REPLICA.search(title)
            name = replica[1] if replica else "Serve and Ray themselves"
            memory = process.memory_full_info()
            sizes[name].append((memory.pss, memory.rss))
    return [
        PartMemory(
            name=name,
            processes=len(found),
            pss_mb=sum(pss for pss, _ in found) / 1e6,
            rss_mb=sum(rss for _, rss in found) / 1e6,
        )
        for name, found in sorted(sizes.items())
    ]
