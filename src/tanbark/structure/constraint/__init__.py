"""Structures from tests of conditional independence."""
