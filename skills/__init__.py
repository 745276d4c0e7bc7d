"""Bundled skills, as data forms."""
