"""Typed settings, profiles and budgets; domain packs: their types and how they are loaded."""
