"""Autolith: a terminal agent that lives inside the Hy image it can edit."""

import hy  # makes .hy files importable

__version__ = "0.1.0"
