"""The business graph: one store an engine, each behind :class:`contracts.graph.GraphStore`."""
