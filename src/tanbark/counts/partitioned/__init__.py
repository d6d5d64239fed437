"""Counting rows that come in parts: files larger than memory, and clusters."""
