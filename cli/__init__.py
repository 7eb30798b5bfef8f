"""The ``frontline`` command."""
