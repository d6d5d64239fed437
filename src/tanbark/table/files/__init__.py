"""Rows in files and other sources: opened, read batch by batch, remembered, written."""
