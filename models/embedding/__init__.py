"""Engines that turn texts into unit vectors, all behind ``contracts.documents.Embedder``."""
