"""What may be read, written and said: decided here, by code that can be read."""
