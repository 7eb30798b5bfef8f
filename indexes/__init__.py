"""Documents to chunks to a searchable snapshot."""
