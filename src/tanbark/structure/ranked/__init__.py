"""The K best graphs of a kind instead of the best one, for averages over structures."""
