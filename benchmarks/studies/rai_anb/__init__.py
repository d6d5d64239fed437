"""The RAI-ANB paper's tables, run again: data, cells, statistics and the page."""
