"""Acceptance and benchmark suite for large language models served from several machines."""

__version__ = "0.1.0"
