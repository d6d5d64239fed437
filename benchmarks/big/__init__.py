"""Rows larger than memory: the stream and cluster engines against memory, group-bys and the number of rows."""
