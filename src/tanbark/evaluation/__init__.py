"""Cross-validated scores of structures, at the cost of what changes between two of them."""
