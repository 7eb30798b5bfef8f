from authoring.compile import gazetteer_related
from authoring.graph_rows import graph_rows
from configs.packs.loader import load_pack
from configs.settings import ROOT
from contracts.documents import EntityRef


def test_each_product_belongs_to_its_one_category() -> None:
    pack = load_pack(ROOT / "domains" / "shop")
    nodes, edges = graph_rows(pack)
    related = gazetteer_related(pack, nodes, edges)
    products = next(group.rows for group in nodes if group.label == "Product")

    assert set(related) == {"product"}
    assert set(related["product"]) == {row["name"] for row in products}
    assert all(len(belongs) == 1 for belongs in related["product"].values())
    assert related["product"]["Morvello Barista 20"] == (EntityRef(kind="category", value="Coffee machines"),)
