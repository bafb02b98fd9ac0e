"""Handraise's window: everything a person sees."""

__version__ = "0.1.0"
