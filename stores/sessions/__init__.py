"""Sessions, the journal of turns, fenced leases, and the checkpoints of running turns."""
