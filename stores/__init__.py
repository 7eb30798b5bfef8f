"""What is kept: the business graph, sessions with their journal and leases, and records."""
