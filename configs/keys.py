"""The key that signs callers' tokens: 32 random bytes, made on first start, outside the repository.

It is kept as 64 hexadecimal digits in ``<home>/signing.key``, readable by its owner alone.
``FRONTLINE_SIGNING_KEY`` (the same digits) overrides the file, so that several hosts can share one.
"""

import contextlib
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from contracts.errors import FrontlineError

KEY_BYTES = 32
KEY_VARIABLE = "FRONTLINE_SIGNING_KEY"


def key_path(home: Path) -> Path:
    """Where the key of the installation at ``home`` lies."""
    return home / "signing.key"


def signing_key(home: Path, environment: Mapping[str, str] = os.environ) -> bytes:
    """The installation's key, made now if there is none yet; at least 32 bytes.

    Processes that start at once agree on one key. Raises ``FrontlineError`` when the key or its
    file can't be used.
    """
    given = environment.get(KEY_VARIABLE)
    if given is not None:
        return _decoded(given, KEY_VARIABLE)
    path = key_path(home)
    try:
        if not path.exists():
            _make(path)
        if path.stat().st_mode & 0o077:
            raise FrontlineError(f"{path} can be read by others: run `chmod 600 {path}`.")
        return _decoded(path.read_text(encoding="ascii"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise FrontlineError(f"The signing key {path} can't be used: {error}.") from error


def _make(path: Path) -> None:
    """Write a whole new key beside its place and link it there: whoever links first has made the key."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(KEY_BYTES) + "\n")
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()


def _decoded(text: str, origin: str) -> bytes:
    try:
        key = bytes.fromhex(text.strip())
    except ValueError as error:
        raise FrontlineError(f"{origin} must hold hexadecimal digits only.") from error
    if len(key) < KEY_BYTES:
        raise FrontlineError(f"{origin} must hold at least {2 * KEY_BYTES} hexadecimal digits.")
    return key
