"""How a query is proven: parse, lower to a small tree, check, print anew. ``docs/cypher-subset.md`` says what passes."""
