"""Run on a node by its own Python; each is sent as text, so it imports nothing of this project."""
