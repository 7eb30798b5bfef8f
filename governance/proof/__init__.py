"""How a query is proven: parse, lower to a small tree, check, print anew. What passes: ``docs/cypher-subset.md``."""
