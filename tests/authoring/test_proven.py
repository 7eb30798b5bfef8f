from pathlib import Path

import pytest

from authoring.proven import require_proven
from configs.packs.loader import load_pack
from contracts.errors import PackError


def test_a_pack_whose_queries_are_proven_may_run(workshop: Path) -> None:
    require_proven(load_pack(workshop))


def test_a_pack_with_a_query_that_reaches_other_customers_may_not(workshop: Path) -> None:
    queries = workshop / "queries.yaml"
    text = queries.read_text(encoding="utf-8")
    queries.write_text(text.replace("(r:Rider {rider_id: $customer_id})", "(r:Rider)"), encoding="utf-8")
    with pytest.raises(PackError) as raised:
        require_proven(load_pack(workshop))
    assert str(raised.value).splitlines() == [
        f"queries.yaml: {name} is not proven for customers: (r:Rider) may be another customer;"
        " write (rider:Rider {rider_id: $customer_id})."
        for name in ("repair_status", "my_repairs")
    ]
