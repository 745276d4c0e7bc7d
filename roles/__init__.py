"""Bundled child roles, as data forms."""
