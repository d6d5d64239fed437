"""Compiled loops of the greedy searches, and how their arrays are laid out."""
