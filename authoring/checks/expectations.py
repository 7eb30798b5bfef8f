"""``tests.yaml``: what it expects exists."""

from collections.abc import Iterator

from authoring.checks.checked import Checked
from authoring.checks.queries import columns_of
from authoring.graph_rows import GraphReading
from configs.nearest import hint
from configs.packs.complaint import Complaint
from configs.packs.loader import TESTS


def expectation_complaints(checked: Checked, graph: GraphReading) -> Iterator[Complaint]:
    """Everything that no answer could ever fulfil."""
    pack = checked.pack
    customers = graph.values.get((pack.schema_.customer_label, pack.schema_.customer_key), set())
    queries = {query.name: query for query in pack.queries.queries}
    documents = {document.governance.document_id for document in pack.documents}
    for position, test in enumerate(pack.tests.tests):
        path = ("tests", position)
        if test.customer is not None and test.customer not in {str(customer) for customer in customers}:
            yield checked.complaint(TESTS, f"the data has no customer {test.customer!r}", *path, "customer")
        for at, expected in enumerate(test.rows):
            query = queries.get(expected.query)
            if query is None:
                message = f"there is no query {expected.query!r}{hint(expected.query, queries)}"
                yield checked.complaint(TESTS, message, *path, "rows", at, "query")
                continue
            columns = columns_of(pack.schema_, query)
            if columns is None:
                continue
            for number, row in enumerate(expected.rows):
                for column in row.keys() - set(columns):
                    message = f"query {query.name!r} returns no column {column!r}{hint(column, columns)}"
                    yield checked.complaint(TESTS, message, *path, "rows", at, "rows", number, column)
        for at, passage in enumerate(test.passages):
            if passage.document not in documents:
                message = f"there is no document {passage.document!r}{hint(passage.document, documents)}"
                yield checked.complaint(TESTS, message, *path, "passages", at, "document")
