from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

from configs.packs.types import SourceDocument
from contracts.documents import EntityRef, SearchFilter
from contracts.graph import Audience
from indexes.permission import permitted

CATS, DOGS = EntityRef(kind="animal", value="cats"), EntityRef(kind="animal", value="dogs")
TOM, FELIX = EntityRef(kind="name", value="Tom"), EntityRef(kind="name", value="Felix")


def _allowed(**given: Any) -> SearchFilter:
    return SearchFilter.model_validate({"audiences": {Audience.PUBLIC}, "on": date(2026, 6, 1)} | given)


@pytest.mark.parametrize(
    ("governance", "allowed", "expected"),
    [
        ({}, {}, True),
        ({"status": "draft"}, {}, False),
        ({"status": "withdrawn"}, {}, False),
        ({"audience": "staff"}, {}, False),
        ({"audience": "staff"}, {"audiences": {"public", "staff"}}, True),
        ({"audience": "public"}, {"audiences": set()}, False),
        ({}, {"on": date(2025, 12, 31)}, False),
        ({}, {"on": date(2026, 1, 1)}, True),
        ({}, {"on": date(2026, 12, 31)}, True),
        ({}, {"on": date(2027, 1, 1)}, False),
        ({"valid_to": None}, {"on": date(2099, 1, 1)}, True),
        ({"desks": ("new",)}, {}, False),
        ({"desks": ("new",)}, {"desk": "old"}, False),
        ({"desks": ("new", "old")}, {"desk": "old"}, True),
        ({"desks": ()}, {"desk": "old"}, True),
        ({"language": "pt"}, {"language": "en"}, False),
        ({"language": "pt"}, {"language": "pt"}, True),
        ({"language": "pt"}, {}, True),
        ({"entities": (CATS,)}, {}, True),
        ({"entities": (CATS,)}, {"entities": (CATS, TOM)}, True),
        ({"entities": (CATS, TOM)}, {"entities": (CATS, TOM)}, True),
        ({"entities": (CATS, TOM)}, {"entities": (CATS,)}, True),
        ({"entities": (CATS, FELIX)}, {"entities": (CATS, TOM)}, False),
        ({"entities": (DOGS, TOM)}, {"entities": (CATS, TOM)}, False),
        ({"entities": (FELIX,)}, {"entities": (TOM,)}, False),
        ({"entities": ()}, {"entities": (CATS, TOM)}, True),
        ({"entities": (CATS,)}, {"entities": (DOGS,)}, False),
        ({"entities": (CATS, DOGS)}, {"entities": (DOGS,)}, True),
        ({"entities": ()}, {"entities": (DOGS,)}, True),
        ({"entities": (EntityRef(kind="plant", value="dogs"),)}, {"entities": (DOGS,)}, False),
    ],
)
def test_each_rule_decides(
    document: Callable[..., SourceDocument], governance: dict[str, Any], allowed: dict[str, Any], expected: bool
) -> None:
    assert permitted(document("any", "text", **governance).governance, _allowed(**allowed)) is expected
