"""The signing key is made once, for its owner alone."""

import re
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from configs.keys import key_path, signing_key
from contracts.errors import FrontlineError


def test_the_first_start_makes_a_key_that_later_starts_find(tmp_path: Path) -> None:
    home = tmp_path / "home"
    key = signing_key(home, {})
    assert len(key) == 32
    assert signing_key(home, {}) == key
    assert signing_key(tmp_path / "other", {}) != key


def test_only_its_owner_may_read_it(tmp_path: Path) -> None:
    signing_key(tmp_path / "home", {})
    assert stat.S_IMODE(key_path(tmp_path / "home").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


def test_starts_at_the_same_moment_agree_on_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as starts:
        keys = set(starts.map(lambda _: signing_key(tmp_path, {}), range(64)))
    assert len(keys) == 1
    assert [path.name for path in tmp_path.iterdir()] == [key_path(tmp_path).name]


def test_the_environment_overrides_the_file_and_makes_none(tmp_path: Path) -> None:
    assert signing_key(tmp_path, {"FRONTLINE_SIGNING_KEY": "0f" * 32}) == b"\x0f" * 32
    assert not key_path(tmp_path).exists()


@pytest.mark.parametrize("text", ["", "0f" * 31, "zz" * 32, "0f" * 31 + "0", "é" * 64])
def test_a_key_that_is_short_or_not_hexadecimal_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(FrontlineError):
        signing_key(tmp_path, {"FRONTLINE_SIGNING_KEY": text})
    key_path(tmp_path).write_text(text)
    key_path(tmp_path).chmod(0o600)
    with pytest.raises(FrontlineError, match=re.escape(str(key_path(tmp_path)))):
        signing_key(tmp_path, {})


def test_a_key_that_others_can_read_is_refused(tmp_path: Path) -> None:
    signing_key(tmp_path, {})
    key_path(tmp_path).chmod(0o640)
    with pytest.raises(FrontlineError, match="chmod 600"):
        signing_key(tmp_path, {})


def test_an_error_does_not_tell_the_key(tmp_path: Path) -> None:
    with pytest.raises(FrontlineError) as caught:
        signing_key(tmp_path, {"FRONTLINE_SIGNING_KEY": "deadbeef"})
    assert "deadbeef" not in caught.value.detail
