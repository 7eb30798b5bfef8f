"""Embedding engines and trained heads."""
