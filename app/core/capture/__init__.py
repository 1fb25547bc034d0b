"""Capture: what is kept of a host's turn, and in which shape."""
