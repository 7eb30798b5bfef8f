"""A fingerprint of a pack's folder."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path


def pack_files(folder: Path) -> Iterator[Path]:
    """The files that make up the pack, sorted by their relative path.

    Left out: hidden files and folders, and Python (a script that made the data is no part of it).
    """
    for path in sorted(folder.rglob("*"), key=lambda item: item.relative_to(folder).as_posix()):
        parts = path.relative_to(folder).parts
        if any(part.startswith(".") or part == "__pycache__" for part in parts) or path.suffix == ".py":
            continue
        if path.is_file():
            yield path


def pack_digest(folder: Path) -> str:
    """SHA-256, in hex, over the relative paths and the bytes of the pack's files."""
    digest = sha256()
    for path in pack_files(folder):
        content = path.read_bytes()
        # The lengths keep two different sets of files from running together to the same bytes.
        digest.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
