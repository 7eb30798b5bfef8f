"""Load on the running service, with each reply checked against the data."""
